// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Nonblocking puts and gets of 1024 threads, which nvshmem_quiet completes.
#include "job.cuh"

__global__ void transfer(int* data, int* flag, int pe, int next, int before) {
  const int i = static_cast<int>(threadIdx.x);
  int* const own = data + 4 * i;
  for (int k = 0; k < 4; ++k) own[k] = 10000 * pe + 4 * i + k;
  nvshmemx_barrier_all_block();
  nvshmem_int_put_nbi(own + 4096, own, 4, next);
  nvshmem_getmem_nbi(own + 8192, own, 4 * sizeof(int), next);
  nvshmem_quiet();
  for (int k = 0; k < 4; ++k) CHECK(own[8192 + k] == 10000 * next + 4 * i + k);
  __syncthreads();
  if (i == 0) {
    nvshmem_int_p(flag, 1, next);
    nvshmem_int_wait_until(flag, NVSHMEM_CMP_EQ, 1);
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k) CHECK(own[4096 + k] == 10000 * before + 4 * i + k);
}

void run(int pe, int n) {
  launch(transfer, 1, 1024, symmetric<int>(3 * 4096), symmetric<int>(1), pe, (pe + 1) % n, (pe + n - 1) % n);
}
