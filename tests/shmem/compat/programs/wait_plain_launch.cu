// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Waits of grids that are not launched cooperatively: of fewer blocks than run at once, and of more. The PEs take
// turns, because a grid that waits may occupy the whole GPU. Prints the time from the launch to the end of the wait.
#include <chrono>

#include "job.cuh"

__global__ void __launch_bounds__(1024) wait_for_signal(uint64_t* signals, uint64_t round, int* ended, int before) {
  if (blockIdx.x == 0 && threadIdx.x == 0) nvshmemx_signal_op(signals, round, NVSHMEM_SIGNAL_SET, before);
  nvshmem_signal_wait_until(signals + 1, NVSHMEM_CMP_GE, round);
  if (threadIdx.x == 0) atomicAdd(ended, 1);
}
__global__ void send_signal(uint64_t* signals, uint64_t round, int next) {
  nvshmem_signal_wait_until(signals, NVSHMEM_CMP_GE, round);  // until the grid of `next` runs
  nvshmemx_signal_op(signals + 1, round, NVSHMEM_SIGNAL_SET, next);
}

void run(int pe, int n) {
  auto* const signals = symmetric<uint64_t>(2);
  auto* const ended = symmetric<int>(1);
  uint64_t round = 0;
  int expected = 0;
  for (const int blocks : {1, 16, 4096}) {
    for (int waiting = 0; waiting < n; ++waiting) {
      ++round;
      nvshmem_barrier_all();
      const auto begin = std::chrono::steady_clock::now();
      if (pe == waiting)
        wait_for_signal<<<static_cast<unsigned>(blocks), 1024>>>(signals, round, ended, (pe + n - 1) % n);
      if ((pe + 1) % n == waiting) send_signal<<<1, 1>>>(signals, round, waiting);
      CHECK_CUDA(cudaDeviceSynchronize());
      const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
      if (pe == 0 && waiting == 0 && blocks > 1)  // the first one loads the GPU kernels
        std::printf("%d blocks: %.1f us\n", blocks, elapsed.count());
    }
    expected += blocks;
    CHECK(on_host(ended, 1)[0] == expected);
  }
}
