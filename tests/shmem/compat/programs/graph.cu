// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A CUDA graph of a put, p, put_signal, barriers and a GPU kernel. Each launch increments the values that the PEs pass.
#include "job.cuh"

__global__ void __launch_bounds__(1024) increment(int* own, const int* received) {
  own[threadIdx.x] = received[threadIdx.x] + 1;
}

void run(int pe, int n) {
  auto* const own = symmetric<int>(1024);
  auto* const received = symmetric<int>(1024);
  auto* const words = symmetric<long long>(2);
  auto* const signal = symmetric<uint64_t>(1);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  nvshmemx_barrier_all_on_stream(stream);  // initializes state that cannot be created during a capture
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  nvshmemx_int_put_on_stream(received, own, 1024, (pe + 1) % n, stream);
  nvshmemx_barrier_all_on_stream(stream);
  increment<<<1, 1024, 0, stream>>>(own, received);
  nvshmemx_longlong_p_on_stream(words, 41 + pe, (pe + 1) % n, stream);
  nvshmemx_putmem_signal_on_stream(words + 1, words, 8, signal, 7, NVSHMEM_SIGNAL_SET, (pe + 1) % n, stream);
  nvshmemx_barrier_all_on_stream(stream);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int round = 0; round < 50; ++round) CHECK_CUDA(cudaGraphLaunch(executable, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(on_host(own, 1024) == std::vector<int>(1024, 50));
  CHECK(on_host(words, 1)[0] == 41 + (pe + n - 1) % n);
  CHECK(on_host(signal, 1)[0] == 7);
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK_CUDA(cudaGraphDestroy(graph));
}
