// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Strided puts and gets of one thread, a warp and a block of 1024 threads.
#include "job.cuh"

__global__ void __launch_bounds__(1024) transfer(int* data, int pe, int next, int before) {
  const int i = static_cast<int>(threadIdx.x);
  data[i] = 10000 * pe + i;
  nvshmemx_barrier_all_block();
  nvshmemx_int_iput_block(data + 1024, data, 2, 3, 300, next);
  nvshmemx_int_iget_block(data + 2048, data, 2, 1, 500, next);
  if (i < 32) nvshmemx_int_iput_warp(data + 4096, data, 5, 2, 100, next);
  if (i == 32) nvshmem_int_iget(data + 5120, data, 1, 7, 100, next);
  if (i == 64) nvshmem_iput32(data + 6144, data, 3, 1, 100, next);
  nvshmemx_barrier_all_block();
  if (i < 300) CHECK(data[1024 + 2 * i] == 10000 * before + 3 * i);
  if (i < 299) CHECK(data[1025 + 2 * i] == 0);
  if (i < 500) CHECK(data[2048 + 2 * i] == 10000 * next + i && data[2049 + 2 * i] == 0);
  if (i < 100) {
    CHECK(data[4096 + 5 * i] == 10000 * before + 2 * i && data[4097 + 5 * i] == 0);
    CHECK(data[5120 + i] == 10000 * next + 7 * i);
    CHECK(data[6144 + 3 * i] == 10000 * before + i && data[6146 + 3 * i] == 0);
  }
}

void run(int pe, int n) { launch(transfer, 1, 1024, symmetric<int>(8192), pe, (pe + 1) % n, (pe + n - 1) % n); }
