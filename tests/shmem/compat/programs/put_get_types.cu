// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// put and get of one thread, for types and element sizes from 1 to 16 bytes.
#include "job.cuh"

__global__ void transfer(char* bytes, int pe, int next, int before) {
  char* at = bytes;
#define TRANSFER(name, type)                                                              \
  {                                                                                       \
    auto* const data = reinterpret_cast<type*>(at);                                       \
    for (int i = 0; i < 5; ++i) data[i] = static_cast<type>(10 * pe + i);                 \
    nvshmem_barrier_all();                                                                \
    nvshmem_##name##_put(data + 5, data, 5, next);                                        \
    nvshmem_##name##_get(data + 10, data, 5, next);                                       \
    nvshmem_barrier_all();                                                                \
    for (int i = 0; i < 5; ++i) CHECK(data[5 + i] == static_cast<type>(10 * before + i)); \
    for (int i = 0; i < 5; ++i) CHECK(data[10 + i] == static_cast<type>(10 * next + i));  \
    at += 256;                                                                            \
  }
  TRANSFER(char, char)
  TRANSFER(schar, signed char)
  TRANSFER(short, short)
  TRANSFER(int, int)
  TRANSFER(uint64, uint64_t)
  TRANSFER(longlong, long long)
  TRANSFER(float, float)
  TRANSFER(double, double)
  auto* const words = reinterpret_cast<int*>(at);
  for (int i = 0; i < 4; ++i) words[i] = 100 * pe + i;
  nvshmem_barrier_all();
  nvshmem_put8(words + 4, words, 16, next);
  nvshmem_put128(words + 8, words, 1, next);
  nvshmem_get64(words + 12, words, 2, next);
  nvshmem_getmem(words + 16, words, 15, next);
  nvshmem_barrier_all();
  for (int i = 0; i < 8; ++i) CHECK(words[4 + i] == 100 * before + i % 4);
  for (int i = 0; i < 7; ++i) CHECK(words[12 + i] == 100 * next + i % 4);
}

void run(int pe, int n) { launch(transfer, 1, 1, symmetric<char>(4096), pe, (pe + 1) % n, (pe + n - 1) % n); }
