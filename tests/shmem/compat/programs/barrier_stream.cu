// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Barriers and syncs on a stream order the GPU kernels of all PEs. The host waits once, at the end.
#include "job.cuh"

__global__ void __launch_bounds__(1024) put_to(int* data, int value, int next) {
  nvshmem_int_p(data + threadIdx.x, value, next);
}
__global__ void __launch_bounds__(1024) expect(const int* data, int value) { CHECK(data[threadIdx.x] == value); }

void run(int pe, int n) {
  auto* const data = symmetric<int>(1024);
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int round = 0; round < 100; ++round) {
    put_to<<<1, 1024, 0, stream>>>(data, 10000 * pe + round, (pe + 1) % n);
    nvshmemx_barrier_all_on_stream(stream);
    expect<<<1, 1024, 0, stream>>>(data, 10000 * ((pe + n - 1) % n) + round);
    if (round % 2 == 0) nvshmemx_sync_all_on_stream(stream);
    if (round % 2 == 1) nvshmemx_team_sync_on_stream(NVSHMEM_TEAM_WORLD, stream);
  }
  CHECK_CUDA(cudaStreamSynchronize(stream));
}
