// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Jacobi iteration on rows of 1024 numbers, 8 rows for each PE, with a halo exchange by p. Compared with the CPU.
#include "job.cuh"

constexpr int width = 1024, rows = 8, steps = 20;

__host__ __device__ float next_value(const float* at, int column) {
  const float left = column == 0 ? 0.F : at[-1], right = column == width - 1 ? 0.F : at[1];
  return 0.25F * (left + right + at[-width] + at[width]);
}
// Rows 0 and rows + 1 are the halo.
__global__ void __launch_bounds__(1024) iterate(float* data, int pe, int n) {
  const int column = static_cast<int>(threadIdx.x);
  for (int step = 0; step < steps; ++step) {
    const float* const old = data + step % 2 * (rows + 2) * width + column;
    float* const made = data + (step + 1) % 2 * (rows + 2) * width + column;
    for (int row = 1; row <= rows; ++row) made[row * width] = next_value(old + row * width, column);
    if (pe > 0) nvshmem_float_p(made + (rows + 1) * width, made[width], pe - 1);
    if (pe < n - 1) nvshmem_float_p(made, made[rows * width], pe + 1);
    nvshmemx_barrier_all_block();
  }
}

void run(int pe, int n) {
  std::vector<float> all(static_cast<size_t>((n * rows + 2) * width)), made = all;
  for (int i = width; i < (n * rows + 1) * width; ++i) all[static_cast<size_t>(i)] = static_cast<float>(i * 7 % 1001);
  const auto own = [&] {
    const auto begin = all.begin() + pe * rows * width;
    return std::vector<float>(begin, begin + (rows + 2) * width);
  };
  auto both = own();
  both.resize(2 * both.size());
  auto* const data = symmetric(both);
  launch(iterate, 1, 1024, data, pe, n);
  for (int step = 0; step < steps; ++step) {
    for (int i = width; i < (n * rows + 1) * width; ++i)
      made[static_cast<size_t>(i)] = next_value(&all[static_cast<size_t>(i)], i % width);
    all.swap(made);
  }
  const auto expected = own();
  CHECK(on_host(data + width, rows * width) == std::vector<float>(expected.begin() + width, expected.end() - width));
}
