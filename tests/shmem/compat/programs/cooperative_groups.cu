// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Grid synchronization of cooperative groups between puts of all blocks and a barrier of one thread.
#include <cooperative_groups.h>

#include "job.cuh"

__global__ void __launch_bounds__(1024) exchange(int* data, int pe, int next, int before) {
  const auto grid = cooperative_groups::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int round = 0; round < 20; ++round) {
    nvshmem_int_p(data + i, 1000000 * pe + 20 * i + round, next);
    nvshmem_quiet();
    grid.sync();
    if (i == 0) nvshmem_barrier_all();
    grid.sync();
    CHECK(nvshmem_int_g(data + i, pe) == 1000000 * before + 20 * i + round);
    grid.sync();
    if (i == 0) nvshmem_sync_all();
    grid.sync();
  }
}

void run(int pe, int n) { launch(exchange, 8, 1024, symmetric<int>(8 * 1024), pe, (pe + 1) % n, (pe + n - 1) % n); }
