// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A ring all-gather by blocks of 1024 threads: each step passes a part to the next PE with a signal.
#include "job.cuh"

constexpr int part = 50000, blocks = 4;

__global__ void __launch_bounds__(1024) gather(int* data, uint64_t* signals, int pe, int n) {
  const int begin = static_cast<int>(blockIdx.x) * (part / blocks);
  for (int step = 0; step < n - 1; ++step) {
    int* const sent = data + (pe + n - step) % n * part + begin;
    uint64_t* const signal = signals + step * blocks + blockIdx.x;
    nvshmemx_int_put_signal_nbi_block(sent, sent, part / blocks, signal, 1, NVSHMEM_SIGNAL_SET, (pe + 1) % n);
    if (threadIdx.x == 0) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
    __syncthreads();
  }
  nvshmem_quiet();
}

void run(int pe, int n) {
  std::vector<int> own(static_cast<size_t>(n * part)), all;
  for (int i = 0; i < n * part; ++i) all.push_back(3 * i + 1);
  for (int i = pe * part; i < (pe + 1) * part; ++i) own[static_cast<size_t>(i)] = 3 * i + 1;
  auto* const data = symmetric(own);
  launch(gather, blocks, 1024, data, symmetric<uint64_t>(static_cast<size_t>(n * blocks)), pe, n);
  nvshmem_barrier_all();
  CHECK(on_host(data, all.size()) == all);
}
