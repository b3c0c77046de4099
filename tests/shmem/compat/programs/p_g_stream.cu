// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// p, g, puts and gets on a stream.
#include "job.cuh"

void run(int pe, int n) {
  const int next = (pe + 1) % n, before = (pe + n - 1) % n;
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  auto* const numbers = symmetric<double>(4);
  nvshmemx_double_p_on_stream(numbers, 1.5 + pe, next, stream);
  nvshmemx_double_p_on_stream(numbers + 1, 2.5 + pe, next, stream);
  nvshmemx_barrier_all_on_stream(stream);
  const double seen = nvshmemx_double_g_on_stream(numbers, next, stream);
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(seen == 1.5 + pe);
  CHECK(on_host(numbers, 2) == std::vector<double>({1.5 + before, 2.5 + before}));
  nvshmem_barrier_all();
  nvshmemx_double_get_on_stream(numbers + 2, numbers, 1, next, stream);
  nvshmemx_putmem_nbi_on_stream(numbers + 3, numbers + 1, sizeof(double), next, stream);
  nvshmemx_quiet_on_stream(stream);
  nvshmemx_barrier_all_on_stream(stream);
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(on_host(numbers + 2, 2) == std::vector<double>({1.5 + pe, 2.5 + (before + n - 1) % n}));
}
