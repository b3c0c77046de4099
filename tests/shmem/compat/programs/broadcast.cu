// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Broadcasts from each PE: from the host, on a stream, and by a thread, a warp and a block of 1024 threads.
#include "job.cuh"

constexpr int count = 500;

__global__ void __launch_bounds__(1024) by_block(int* target, const int* source, int root) {
  nvshmemx_int_broadcast_block(NVSHMEM_TEAM_WORLD, target, source, count, root);
}
__global__ void by_warp(int* target, const int* source, int root) {
  nvshmemx_int_broadcast_warp(NVSHMEM_TEAM_WORLD, target, source, count, root);
}
__global__ void by_thread(int* target, const int* source, int root) {
  nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, target, source, count, root);
}

void run(int pe, int n) {
  auto* const source = symmetric(std::vector<int>(count, 100 + pe));
  auto* const target = symmetric<int>(5 * count);
  for (int root = 0; root < n; ++root) {
    CHECK(nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, target, source, count, root) == 0);
    CHECK(nvshmemx_int_broadcast_on_stream(NVSHMEM_TEAM_WORLD, target + count, source, count, root, nullptr) == 0);
    launch(by_block, 1, 1024, target + 2 * count, source, root);
    launch(by_warp, 1, 32, target + 3 * count, source, root);
    launch(by_thread, 1, 1, target + 4 * count, source, root);
    nvshmem_barrier_all();
    CHECK(on_host(target, 5 * count) == std::vector<int>(5 * count, 100 + root));
    nvshmem_barrier_all();
  }
}
