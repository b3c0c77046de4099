// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// p and g of 1024 threads, for types of 1 to 8 bytes.
#include "job.cuh"

__global__ void __launch_bounds__(1024) exchange(char* bytes, int pe, int next, int before) {
  const int i = static_cast<int>(threadIdx.x);
  char* at = bytes;
#define EXCHANGE(name, type)                                                          \
  {                                                                                   \
    auto* const data = reinterpret_cast<type*>(at);                                   \
    nvshmem_##name##_p(data + i, static_cast<type>(40 * pe + i % 40), next);          \
    nvshmemx_barrier_all_block();                                                     \
    CHECK(data[i] == static_cast<type>(40 * before + i % 40));                        \
    CHECK(nvshmem_##name##_g(data + i, next) == static_cast<type>(40 * pe + i % 40)); \
    at += 8192;                                                                       \
  }
  EXCHANGE(uint8, uint8_t)
  EXCHANGE(int16, int16_t)
  EXCHANGE(uint, unsigned)
  EXCHANGE(long, long)
  EXCHANGE(float, float)
  EXCHANGE(double, double)
}

void run(int pe, int n) { launch(exchange, 1, 1024, symmetric<char>(6 * 8192), pe, (pe + 1) % n, (pe + n - 1) % n); }
