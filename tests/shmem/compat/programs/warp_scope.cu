// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Puts and gets of warps: each of 32 warps of a block transfers its own part.
#include "job.cuh"

__global__ void transfer(double* data, int pe, int next, int before) {
  const int i = static_cast<int>(threadIdx.x);
  double* const part = data + i / 32 * 100;
  for (int k = i % 32; k < 100; k += 32) part[k] = 10000.0 * pe + i / 32 * 100 + k;
  nvshmemx_barrier_all_block();
  nvshmemx_double_put_warp(part + 3200, part, 100, next);
  nvshmemx_double_get_warp(part + 6400, part, 100, next);
  nvshmemx_putmem_nbi_warp(part + 9600, part, 99 * sizeof(double), next);
  nvshmemx_getmem_nbi_warp(part + 12800, part, 99 * sizeof(double), next);
  nvshmem_quiet();
  nvshmemx_barrier_all_block();
  for (int k = i % 32; k < 100; k += 32) {
    const double there = i / 32 * 100 + k;
    CHECK(part[3200 + k] == 10000.0 * before + there);
    CHECK(part[6400 + k] == 10000.0 * next + there);
    CHECK(part[9600 + k] == (k < 99 ? 10000.0 * before + there : 0));
    CHECK(part[12800 + k] == (k < 99 ? 10000.0 * next + there : 0));
  }
}

void run(int pe, int n) { launch(transfer, 1, 1024, symmetric<double>(5 * 3200), pe, (pe + 1) % n, (pe + n - 1) % n); }
