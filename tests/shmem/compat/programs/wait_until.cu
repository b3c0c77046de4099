// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// wait_until with each comparison, for words of 4 and 8 bytes. 1024 threads wait for one word each.
#include "job.cuh"

__global__ void exchange(char* bytes, int next) {
  const int i = static_cast<int>(threadIdx.x), which = i % 6;
  const int comparisons[] = {NVSHMEM_CMP_EQ, NVSHMEM_CMP_NE, NVSHMEM_CMP_LT,
                             NVSHMEM_CMP_LE, NVSHMEM_CMP_GT, NVSHMEM_CMP_GE};
  const int sent[] = {-3, -3, -3, -3, 3, 3}, bounds[] = {-3, 0, 0, -3, 2, 3};
  char* at = bytes;
#define EXCHANGE(name, type)                                              \
  {                                                                       \
    auto* const word = reinterpret_cast<type*>(at) + i;                   \
    nvshmem_##name##_p(word, sent[which], next);                          \
    nvshmem_##name##_wait_until(word, comparisons[which], bounds[which]); \
    CHECK(*word == sent[which]);                                          \
    at += 8192;                                                           \
  }
  EXCHANGE(int, int)
  EXCHANGE(long, long)
  EXCHANGE(longlong, long long)
  EXCHANGE(int32, int32_t)
  EXCHANGE(int64, int64_t)
  EXCHANGE(ptrdiff, ptrdiff_t)
}

void run(int pe, int n) { launch(exchange, 1, 1024, symmetric<char>(6 * 8192), (pe + 1) % n); }
