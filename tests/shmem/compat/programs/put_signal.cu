// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Puts with a signal, which sets or adds: of one thread, a warp and a block of 1024 threads.
#include "job.cuh"

__global__ void __launch_bounds__(1024) transfer(int* data, const int* from, uint64_t* signals, int next, int before) {
  const int i = static_cast<int>(threadIdx.x), warp = i / 32 * 32;
  nvshmemx_int_put_signal_block(data, from, 1024, signals, 7, NVSHMEM_SIGNAL_SET, next);
  nvshmemx_putmem_signal_nbi_warp(data + 1024 + warp, from + warp, 128, signals + 1, 1, NVSHMEM_SIGNAL_ADD, next);
  nvshmem_int_put_signal(data + 2048 + i, from + i, 1, signals + 2, 3, NVSHMEM_SIGNAL_ADD, next);
  CHECK(nvshmem_signal_wait_until(signals, NVSHMEM_CMP_EQ, 7) == 7);
  CHECK(data[i] == 10000 * before + i);
  CHECK(nvshmem_signal_wait_until(signals + 1, NVSHMEM_CMP_GT, 31) == 32);
  CHECK(data[1024 + i] == 10000 * before + i);
  CHECK(nvshmem_signal_wait_until(signals + 2, NVSHMEM_CMP_GE, 3 * 1024) == 3 * 1024);
  CHECK(data[2048 + i] == 10000 * before + i);
  CHECK(nvshmem_signal_fetch(signals + 2) == 3 * 1024);
  nvshmem_quiet();
}

void run(int pe, int n) {
  std::vector<int> values;
  for (int i = 0; i < 1024; ++i) values.push_back(10000 * pe + i);
  launch(transfer, 1, 1024, symmetric<int>(3 * 1024), symmetric(values), symmetric<uint64_t>(3), (pe + 1) % n,
         (pe + n - 1) % n);
}
