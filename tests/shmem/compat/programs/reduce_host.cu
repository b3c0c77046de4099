// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Reductions with each operation, from the host and on a stream.
#include "job.cuh"

constexpr int count = 1000;

void run(int pe, int n) {
  auto* const source = symmetric(std::vector<unsigned>(count, static_cast<unsigned>(pe + 1)));
  auto* const target = symmetric<unsigned>(count);
  const auto last = static_cast<unsigned>(n);
  unsigned sum = 0, product = 1, ors = 0, exclusive = 0;
  for (unsigned value = 1; value <= last; ++value) sum += value, product *= value, ors |= value, exclusive ^= value;
  const auto expect = [&](unsigned value) {
    CHECK_CUDA(cudaDeviceSynchronize());
    nvshmem_barrier_all();
    CHECK(on_host(target, count) == std::vector<unsigned>(count, value));
    CHECK_CUDA(cudaMemset(target, 0, count * sizeof(unsigned)));
    CHECK_CUDA(cudaDeviceSynchronize());
    nvshmem_barrier_all();
  };
#define REDUCE(operation, value)                                                                                \
  CHECK(nvshmem_uint_##operation##_reduce(NVSHMEM_TEAM_WORLD, target, source, count) == 0);                     \
  expect(value);                                                                                                \
  CHECK(nvshmemx_uint_##operation##_reduce_on_stream(NVSHMEM_TEAM_WORLD, target, source, count, nullptr) == 0); \
  expect(value);
  REDUCE(sum, sum)
  REDUCE(prod, product)
  REDUCE(max, last)
  REDUCE(min, 1)
  REDUCE(or, ors)
  REDUCE(xor, exclusive)
  REDUCE(and, n == 1 ? 1 : 0)
}
