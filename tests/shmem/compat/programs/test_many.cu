// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// test, test_all, test_any and test_some, with one value for all words and with one value for each.
#include "job.cuh"

__global__ void exchange(long* words, int next) {
  const int i = static_cast<int>(threadIdx.x);
  CHECK(nvshmem_long_test(words + i, NVSHMEM_CMP_LT, 0) == 0);
  nvshmemx_barrier_all_block();
  nvshmem_long_p(words + i, 1 + i % 8, next);
  while (nvshmem_long_test(words + i, NVSHMEM_CMP_NE, 0) == 0) continue;
  nvshmemx_barrier_all_block();
  if (i != 0) return;
  const int status[8] = {1, 0, 0, 0, 0, 0, 0, 1};
  long values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, others[8] = {0, 0, 0, 4, 0, 0, 0, 0};
  size_t indices[8];
  CHECK(nvshmem_long_test_all(words, 8, nullptr, NVSHMEM_CMP_GE, 1) == 1);
  CHECK(nvshmem_long_test_all(words, 8, nullptr, NVSHMEM_CMP_GE, 2) == 0);
  CHECK(nvshmem_long_test_all(words, 8, status, NVSHMEM_CMP_GE, 2) == 1);
  CHECK(nvshmem_long_test_all_vector(words, 8, nullptr, NVSHMEM_CMP_EQ, values) == 1);
  CHECK(nvshmem_long_test_any(words, 8, nullptr, NVSHMEM_CMP_EQ, 5) == 4);
  CHECK(nvshmem_long_test_any(words, 8, status, NVSHMEM_CMP_EQ, 8) == SIZE_MAX);
  CHECK(nvshmem_long_test_any_vector(words, 8, nullptr, NVSHMEM_CMP_EQ, others) == 3);
  CHECK(nvshmem_long_test_some(words, 8, indices, status, NVSHMEM_CMP_LE, 3) == 2);
  CHECK(indices[0] + indices[1] == 3);
  CHECK(nvshmem_long_test_some_vector(words, 8, indices, nullptr, NVSHMEM_CMP_EQ, others) == 1 && indices[0] == 3);
}

void run(int pe, int n) { launch(exchange, 1, 256, symmetric<long>(256), (pe + 1) % n); }
