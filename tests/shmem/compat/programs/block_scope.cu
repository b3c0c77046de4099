// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Puts and gets of four blocks of 1024 threads, at any alignment.
#include "job.cuh"

constexpr int part_bytes = 100003;

__global__ void __launch_bounds__(1024) transfer(char* target, const char* source, int next) {
  const size_t at = blockIdx.x * size_t{part_bytes};
  nvshmemx_char_put_block(target + at, source + at, part_bytes, next);
  nvshmemx_getmem_nbi_block(target + 4 * part_bytes + at, source + at, part_bytes, next);
  nvshmem_quiet();
}

void run(int pe, int n) {
  const auto value = [](int of, int i) { return static_cast<char>(31 * of + i % 113); };
  std::vector<char> values;
  for (int i = 0; i < 4 * part_bytes; ++i) values.push_back(value(pe, i));
  auto* const target = symmetric<char>(8 * part_bytes);
  launch(transfer, 4, 1024, target, symmetric(values), (pe + 1) % n);
  nvshmem_barrier_all();
  const auto seen = on_host(target, 8 * part_bytes);
  for (int i = 0; i < 4 * part_bytes; ++i) {
    CHECK(seen[static_cast<size_t>(i)] == value((pe + n - 1) % n, i));
    CHECK(seen[static_cast<size_t>(4 * part_bytes + i)] == value((pe + 1) % n, i));
  }
}
