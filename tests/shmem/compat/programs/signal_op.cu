// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Signals without data: of 1024 threads, and on a stream.
#include "job.cuh"

__global__ void __launch_bounds__(1024) signal_next(uint64_t* signals, int next) {
  nvshmemx_signal_op(signals, 2, NVSHMEM_SIGNAL_ADD, next);
  if (threadIdx.x == 0) nvshmemx_signal_op(signals + 1, ~uint64_t{0}, NVSHMEM_SIGNAL_SET, next);
  CHECK(nvshmem_signal_wait_until(signals, NVSHMEM_CMP_EQ, 2048) == 2048);
  CHECK(nvshmem_signal_wait_until(signals + 1, NVSHMEM_CMP_NE, 0) == ~uint64_t{0});
}

void run(int pe, int n) {
  auto* const signals = symmetric<uint64_t>(4);
  launch(signal_next, 1, 1024, signals, (pe + 1) % n);
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));
  for (uint64_t round = 1; round <= 20; ++round) {
    nvshmemx_signal_op_on_stream(signals + 2, round, NVSHMEM_SIGNAL_SET, (pe + 1) % n, stream);
    nvshmemx_signal_wait_until_on_stream(signals + 2, NVSHMEM_CMP_GE, round, stream);
    nvshmemx_signal_op_on_stream(signals + 3, 5, NVSHMEM_SIGNAL_ADD, (pe + 1) % n, stream);
    nvshmemx_signal_wait_until_on_stream(signals + 3, NVSHMEM_CMP_GE, 5 * round, stream);
  }
  CHECK_CUDA(cudaStreamSynchronize(stream));
  nvshmem_barrier_all();
  CHECK(on_host(signals, 4)[2] == 20 && on_host(signals, 4)[3] == 100);
}
