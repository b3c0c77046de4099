// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// wait_until_all, _any and _some, with one value for all words and with one value for each. The words arrive from 1024
// threads.
#include "job.cuh"

__global__ void exchange(int* words, int next) {
  const int i = static_cast<int>(threadIdx.x);
  nvshmem_int_p(words + i, 1 + i % 64, next);
  if (i != 0) return;
  nvshmem_int_wait_until_all(words, 64, nullptr, NVSHMEM_CMP_GE, 1);
  int status[64] = {}, values[64];
  for (int k = 0; k < 64; ++k) CHECK(words[k] == 1 + k);
  for (int k = 0; k < 64; ++k) values[k] = 1 + k;
  nvshmem_int_wait_until_all_vector(words + 64, 64, status, NVSHMEM_CMP_EQ, values);
  for (int found = 0; found < 64; ++found) {
    const size_t index = nvshmem_int_wait_until_any(words + 128, 64, status, NVSHMEM_CMP_NE, 0);
    CHECK(index < 64 && status[index] == 0);
    status[index % 64] = 1;
  }
  CHECK(nvshmem_int_wait_until_any(words + 128, 64, status, NVSHMEM_CMP_NE, 0) == SIZE_MAX);
  for (int k = 0; k < 64; ++k) status[k] = k % 2;
  size_t indices[64];
  for (size_t found = 0; found < 32;) {
    const size_t more = nvshmem_int_wait_until_some(words + 192, 64, indices, status, NVSHMEM_CMP_GT, 0);
    CHECK(more >= 1 && found + more <= 32);
    for (size_t k = 0; k < more; ++k) CHECK(status[indices[k]]++ == 0);
    found += more;
  }
  CHECK(nvshmem_int_wait_until_any_vector(words + 256, 64, nullptr, NVSHMEM_CMP_EQ, values) < 64);
  const size_t some = nvshmem_int_wait_until_some_vector(words + 320, 64, indices, nullptr, NVSHMEM_CMP_EQ, values);
  CHECK(some >= 1 && some <= 64);
}

void run(int pe, int n) { launch(exchange, 1, 1024, symmetric<int>(1024), (pe + 1) % n); }
