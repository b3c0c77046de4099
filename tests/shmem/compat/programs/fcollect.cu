// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// fcollect from the host, on a stream, and by a thread, a warp and a block of 1024 threads.
#include "job.cuh"

constexpr int count = 300;

__global__ void __launch_bounds__(1024) by_block(double* target, const double* source) {
  nvshmemx_double_fcollect_block(NVSHMEM_TEAM_WORLD, target, source, count);
}
__global__ void by_warp(double* target, const double* source) {
  nvshmemx_double_fcollect_warp(NVSHMEM_TEAM_WORLD, target, source, count);
}
__global__ void by_thread(double* target, const double* source) {
  nvshmem_double_fcollect(NVSHMEM_TEAM_WORLD, target, source, count);
}

void run(int pe, int n) {
  const auto all = static_cast<size_t>(n * count);
  std::vector<double> own, expected;
  for (int i = 0; i < n * count; ++i) expected.push_back(i + 0.5);
  for (int i = 0; i < count; ++i) own.push_back(pe * count + i + 0.5);
  auto* const source = symmetric(own);
  auto* const target = symmetric<double>(5 * all);
  CHECK(nvshmem_double_fcollect(NVSHMEM_TEAM_WORLD, target, source, count) == 0);
  CHECK(nvshmemx_double_fcollect_on_stream(NVSHMEM_TEAM_WORLD, target + all, source, count, nullptr) == 0);
  launch(by_block, 1, 1024, target + 2 * all, source);
  launch(by_warp, 1, 32, target + 3 * all, source);
  launch(by_thread, 1, 1, target + 4 * all, source);
  nvshmem_barrier_all();
  for (size_t way = 0; way < 5; ++way) CHECK(on_host(target + way * all, all) == expected);
}
