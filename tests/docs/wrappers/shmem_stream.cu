/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <gdrkit/shmem.h>

__global__ void work(const float* inbox);

void snippet(float* inbox, const float* results, size_t bytes, uint64_t* signal, uint64_t step, int next, int blocks,
             int threads, cudaStream_t stream) {
  /* SNIPPET */
}
