// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// alltoall from the host, on a stream, and by a thread, a warp and a block of 1024 threads.
#include "job.cuh"

constexpr int count = 300;

__global__ void __launch_bounds__(1024) by_block(int* target, const int* source) {
  nvshmemx_int_alltoall_block(NVSHMEM_TEAM_WORLD, target, source, count);
}
__global__ void by_warp(int* target, const int* source) {
  nvshmemx_int_alltoall_warp(NVSHMEM_TEAM_WORLD, target, source, count);
}
__global__ void by_thread(int* target, const int* source) {
  nvshmem_int_alltoall(NVSHMEM_TEAM_WORLD, target, source, count);
}

void run(int pe, int n) {
  const auto all = static_cast<size_t>(n * count);
  std::vector<int> own, expected;
  for (int other = 0; other < n; ++other) {
    for (int i = 0; i < count; ++i) own.push_back(100000 * pe + 1000 * other + i);
    for (int i = 0; i < count; ++i) expected.push_back(100000 * other + 1000 * pe + i);
  }
  auto* const source = symmetric(own);
  auto* const target = symmetric<int>(5 * all);
  CHECK(nvshmem_int_alltoall(NVSHMEM_TEAM_WORLD, target, source, count) == 0);
  CHECK(nvshmemx_int_alltoall_on_stream(NVSHMEM_TEAM_WORLD, target + all, source, count, nullptr) == 0);
  launch(by_block, 1, 1024, target + 2 * all, source);
  launch(by_warp, 1, 32, target + 3 * all, source);
  launch(by_thread, 1, 1, target + 4 * all, source);
  nvshmem_barrier_all();
  for (size_t way = 0; way < 5; ++way) CHECK(on_host(target + way * all, all) == expected);
}
