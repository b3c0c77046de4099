// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Symmetric memory: malloc, calloc, align and free. The addresses are valid at the peer.
#include "job.cuh"

__global__ void __launch_bounds__(1024) put_to(char* target, char value, int next) {
  nvshmem_char_p(target + threadIdx.x, value, next);
}

void run(int pe, int n) {
  const char own = static_cast<char>(pe + 1), theirs = static_cast<char>((pe + n - 1) % n + 1);
  for (int round = 0; round < 20; ++round) {
    const size_t size = size_t{1024} << round % 10;
    auto* const first = static_cast<char*>(nvshmem_malloc(size));
    auto* const zeros = static_cast<char*>(nvshmem_calloc(size / 8, 8));
    auto* const aligned = static_cast<char*>(nvshmem_align(4096, size));
    CHECK(first != nullptr && zeros != nullptr && aligned != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(aligned) % 4096 == 0);
    CHECK(on_host(zeros, size) == std::vector<char>(size, 0));
    nvshmem_barrier_all();
    for (char* const target : {first, zeros, aligned}) launch(put_to, 1, 1024, target + size - 1024, own, (pe + 1) % n);
    nvshmem_barrier_all();
    for (char* const target : {first, zeros, aligned}) {
      CHECK(on_host(target + size - 1024, 1024) == std::vector<char>(1024, theirs));
      nvshmem_free(target);
    }
  }
}
