// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// half and bfloat16: puts, gets, strided puts and reductions of a block of 1024 threads. The device library of NVSHMEM
// 3.8.0 lacks p and g of these types.
#include "job.cuh"

#define EXCHANGE(name, type)                                                                          \
  __global__ void __launch_bounds__(1024) exchange_##name(type* data, int pe, int n) {                \
    const int i = static_cast<int>(threadIdx.x), next = (pe + 1) % n, before = (pe + n - 1) % n;      \
    data[i] = type(static_cast<float>(pe + 1));                                                       \
    nvshmemx_barrier_all_block();                                                                     \
    nvshmem_##name##_put(data + 1024 + i, data + i, 1, next);                                         \
    nvshmemx_##name##_put_block(data + 2048, data, 1024, next);                                       \
    nvshmemx_##name##_iput_block(data + 3072, data, 2, 1, 512, next);                                 \
    nvshmem_##name##_get(data + 4096 + i, data + i, 1, next);                                         \
    nvshmemx_barrier_all_block();                                                                     \
    CHECK(static_cast<float>(data[1024 + i]) == static_cast<float>(before + 1));                      \
    CHECK(static_cast<float>(data[2048 + i]) == static_cast<float>(before + 1));                      \
    CHECK(static_cast<float>(data[3072 + i]) == (i % 2 == 0 ? static_cast<float>(before + 1) : 0.F)); \
    CHECK(static_cast<float>(data[4096 + i]) == static_cast<float>(next + 1));                        \
    nvshmemx_##name##_sum_reduce_block(NVSHMEM_TEAM_WORLD, data + 5120, data, 1024);                  \
    nvshmemx_##name##_max_reduce_block(NVSHMEM_TEAM_WORLD, data + 6144, data, 1024);                  \
    __syncthreads();                                                                                  \
    CHECK(static_cast<float>(data[5120 + i]) == static_cast<float>(n * (n + 1) / 2));                 \
    CHECK(static_cast<float>(data[6144 + i]) == static_cast<float>(n));                               \
  }
EXCHANGE(half, __half)
EXCHANGE(bfloat16, __nv_bfloat16)

void run(int pe, int n) {
  launch(exchange_half, 1, 1024, symmetric<__half>(7168), pe, n);
  launch(exchange_bfloat16, 1, 1024, symmetric<__nv_bfloat16>(7168), pe, n);
}
