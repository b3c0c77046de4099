// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Reductions in GPU kernels, by a thread, a warp and a block of 1024 threads.
#include "job.cuh"

constexpr int count = 700;

__global__ void __launch_bounds__(1024) by_block(float* target, const float* source) {
  nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, target, source, count);
  nvshmemx_float_max_reduce_block(NVSHMEM_TEAM_WORLD, target + count, source, count);
}
__global__ void by_warp(float* target, const float* source) {
  nvshmemx_float_sum_reduce_warp(NVSHMEM_TEAM_WORLD, target, source, count);
  nvshmemx_float_max_reduce_warp(NVSHMEM_TEAM_WORLD, target + count, source, count);
}
__global__ void by_thread(float* target, const float* source) {
  nvshmem_float_sum_reduce(NVSHMEM_TEAM_WORLD, target, source, count);
  nvshmem_float_max_reduce(NVSHMEM_TEAM_WORLD, target + count, source, count);
}

void run(int pe, int n) {
  std::vector<float> own, expected;
  for (int i = 0; i < count; ++i) own.push_back(static_cast<float>(pe * i));
  for (int i = 0; i < count; ++i) expected.push_back(static_cast<float>(n * (n - 1) / 2 * i));
  for (int i = 0; i < count; ++i) expected.push_back(static_cast<float>((n - 1) * i));
  auto* const source = symmetric(own);
  auto* const target = symmetric<float>(6 * count);
  launch(by_block, 1, 1024, target, source);
  launch(by_warp, 1, 32, target + 2 * count, source);
  launch(by_thread, 1, 1, target + 4 * count, source);
  nvshmem_barrier_all();
  for (size_t way = 0; way < 3; ++way) CHECK(on_host(target + way * 2 * count, 2 * count) == expected);
}
