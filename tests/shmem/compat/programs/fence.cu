// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A fence between two puts of a thread: a PE that has seen the second one sees the first one. 1024 threads.
#include "job.cuh"

__global__ void __launch_bounds__(1024) exchange(int* data, int* flags, int pe, int next) {
  const int i = static_cast<int>(threadIdx.x);
  for (int round = 1; round <= 200; ++round) {
    nvshmem_int_p(data + 32 * i, round, next);
    nvshmem_fence();
    nvshmem_int_p(flags + i, round, next);
    nvshmem_int_wait_until(flags + i, NVSHMEM_CMP_GE, round);
    CHECK(nvshmem_int_g(data + 32 * i, pe) >= round);
  }
}

void run(int pe, int n) {
  launch(exchange, 1, 1024, symmetric<int>(32 * 1024), symmetric<int>(1024), pe, (pe + 1) % n);
}
