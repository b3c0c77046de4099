// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// nvshmem_ptr: 1024 threads load and store through the address of the peer's memory.
#include "job.cuh"

__global__ void __launch_bounds__(1024) access(int* data, int pe, int next, int before) {
  const int i = static_cast<int>(threadIdx.x);
  auto* const there = static_cast<int*>(nvshmem_ptr(data, next));
  CHECK(nvshmem_ptr(data, pe) == data && there != nullptr);
  there[i] = 10000 * pe + i;
  nvshmemx_barrier_all_block();
  CHECK(data[i] == 10000 * before + i);
  CHECK(there[1023 - i] == 10000 * pe + 1023 - i);
  atomicAdd_system(there + 1024, 1);
  nvshmemx_barrier_all_block();
  CHECK(data[1024] == 1024);
}

void run(int pe, int n) {
  auto* const data = symmetric<int>(1025);
  launch(access, 1, 1024, data, pe, (pe + 1) % n, (pe + n - 1) % n);
  CHECK(nvshmem_ptr(data, pe) == data);
  const auto* const there = static_cast<const int*>(nvshmem_ptr(data, (pe + 1) % n));
  nvshmem_barrier_all();
  CHECK(there != nullptr && on_host(there, 1024)[1023] == 10000 * pe + 1023);
  int local = 0;
  CHECK(nvshmem_ptr(&local, pe) == nullptr);
}
