// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A collective launch of as many blocks of 1024 threads as fit: each waits for all blocks of all PEs.
#include "job.cuh"

__global__ void __launch_bounds__(1024) wait_for_all(uint64_t* arrived, int n) {
  if (threadIdx.x < static_cast<unsigned>(n)) nvshmem_uint64_atomic_inc(arrived, static_cast<int>(threadIdx.x));
  nvshmem_uint64_wait_until(arrived, NVSHMEM_CMP_EQ, gridDim.x * static_cast<uint64_t>(n));
}

void run(int, int n) {
  auto* arrived = symmetric<uint64_t>(1);
  void* arguments[] = {&arrived, &n};
  int blocks = 0;
  CHECK(nvshmemx_collective_launch_query_gridsize(reinterpret_cast<const void*>(wait_for_all), dim3(1024), arguments, 0,
                                                  &blocks) == 0);
  CHECK(blocks >= 1);
  launch(wait_for_all, blocks, 1024, arrived, n);
  CHECK(on_host(arrived, 1)[0] == static_cast<uint64_t>(blocks) * static_cast<uint64_t>(n));
}
