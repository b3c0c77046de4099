// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Atomic operations on words of 32 bits: 1024 threads of every PE update the same words of PE 0.
#include "job.cuh"

__global__ void __launch_bounds__(1024) update(uint32_t* words, int pe, int n) {
  const unsigned i = threadIdx.x;
  const uint32_t bit = uint32_t{1} << i % 32, id = 1 + i + 1024U * static_cast<unsigned>(pe),
                 all = 1024U * static_cast<unsigned>(n);
  if (i == 0) nvshmem_uint32_atomic_set(words + 3, ~uint32_t{0}, pe);
  nvshmemx_barrier_all_block();
  CHECK(nvshmem_uint32_atomic_fetch_add(words, 1, 0) < all);
  nvshmem_uint32_atomic_or(words + 1, bit, 0);
  nvshmem_uint32_atomic_xor(words + 2, bit, 0);
  CHECK((nvshmem_uint32_atomic_fetch_and(words + 3, ~(bit & 0xff00), 0) & 0xff) == 0xff);
  nvshmem_uint32_atomic_add(words + 4, id, 0);
  CHECK(nvshmem_uint32_atomic_fetch_inc(words + 5, 0) < all);
  if (nvshmem_uint32_atomic_compare_swap(words + 6, 0, id, 0) == 0) nvshmem_uint32_atomic_inc(words + 7, 0);
  // Each value that a swap replaces is added, so the sum lacks only the value that remains.
  nvshmem_uint32_atomic_add(words + 9, nvshmem_uint32_atomic_swap(words + 8, id, 0), 0);
  nvshmemx_barrier_all_block();
  const uint32_t sum = all * (all + 1) / 2;
  CHECK(nvshmem_uint32_atomic_fetch(words, 0) == all);
  CHECK(nvshmem_uint32_g(words + 1, 0) == ~uint32_t{0} && nvshmem_uint32_g(words + 2, 0) == 0);
  CHECK(nvshmem_uint32_g(words + 3, 0) == ~uint32_t{0xff00});
  CHECK(nvshmem_uint32_g(words + 4, 0) == sum && nvshmem_uint32_g(words + 5, 0) == all);
  CHECK(nvshmem_uint32_g(words + 6, 0) - 1 < all && nvshmem_uint32_g(words + 7, 0) == 1);
  CHECK(nvshmem_uint32_g(words + 9, 0) + nvshmem_uint32_g(words + 8, 0) == sum);
}

void run(int pe, int n) { launch(update, 1, 1024, symmetric<uint32_t>(10), pe, n); }
