// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Reductions of 1 MiB in GPU kernels. Prints the time of one for a block of 1024 threads, a warp and a thread.
#include "job.cuh"

constexpr int count = 1 << 18;

__device__ uint64_t now_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__global__ void __launch_bounds__(1024) reduce(float* target, const float* source, uint64_t* ns, int rounds) {
  for (int round = 0; round <= rounds; ++round) {  // the first one is a warm-up
    if (round == 1 && threadIdx.x == 0) *ns = now_ns();
    if (blockDim.x > 32) nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, target, source, count);
    if (blockDim.x == 32) nvshmemx_float_sum_reduce_warp(NVSHMEM_TEAM_WORLD, target, source, count);
    if (blockDim.x == 1) nvshmem_float_sum_reduce(NVSHMEM_TEAM_WORLD, target, source, count);
  }
  if (threadIdx.x == 0) *ns = (now_ns() - *ns) / static_cast<uint64_t>(rounds);
}

void run(int pe, int n) {
  auto* const source = symmetric(std::vector<float>(count, static_cast<float>(pe + 1)));
  auto* const target = symmetric<float>(count);
  auto* const ns = symmetric<uint64_t>(1);
  for (const int threads : {1024, 32, 1}) {
    launch(reduce, 1, threads, target, source, ns, threads == 1 ? 1 : 5);
    CHECK(on_host(target, count) == std::vector<float>(count, static_cast<float>(n * (n + 1) / 2)));
    if (pe == 0) std::printf("%d threads: %.3f ms\n", threads, static_cast<double>(on_host(ns, 1)[0]) / 1e6);
    CHECK_CUDA(cudaMemset(target, 0, count * sizeof(float)));
    CHECK_CUDA(cudaDeviceSynchronize());
    nvshmem_barrier_all();
  }
}
