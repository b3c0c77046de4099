// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Barriers and syncs of a thread, a warp and a block of 1024 threads in GPU kernels, between rounds of puts.
#include "job.cuh"

template <class Barrier, class Sync>
__device__ void rounds(int* data, int pe, int next, int before, Barrier barrier, Sync sync) {
  const int i = static_cast<int>(threadIdx.x);
  for (int round = 0; round < 50; ++round) {
    nvshmem_int_p(data + i, 10000 * pe + round, next);
    barrier();
    CHECK(nvshmem_int_g(data + i, pe) == 10000 * before + round);
    sync();
  }
}
__global__ void __launch_bounds__(1024) by_block(int* data, int pe, int next, int before) {
  rounds(
      data, pe, next, before, [] { nvshmemx_barrier_all_block(); }, [] { nvshmemx_sync_all_block(); });
}
__global__ void by_warp(int* data, int pe, int next, int before) {
  rounds(
      data, pe, next, before, [] { nvshmemx_barrier_all_warp(); }, [] { nvshmemx_sync_all_warp(); });
}
__global__ void by_thread(int* data, int pe, int next, int before) {
  rounds(
      data, pe, next, before, [] { nvshmem_barrier_all(); }, [] { nvshmem_sync_all(); });
}

void run(int pe, int n) {
  auto* const data = symmetric<int>(1024);
  launch(by_block, 1, 1024, data, pe, (pe + 1) % n, (pe + n - 1) % n);
  launch(by_warp, 1, 32, data, pe, (pe + 1) % n, (pe + n - 1) % n);
  launch(by_thread, 1, 1, data, pe, (pe + 1) % n, (pe + n - 1) % n);
}
