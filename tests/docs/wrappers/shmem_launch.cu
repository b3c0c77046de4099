/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <gdrkit/shmem.h>
#include <gdrkit/shmem_device.cuh>

__global__ void send(gdrkit_shmem_device_state pe, float* target, const float* source, std::uint64_t* signal);

void snippet(float* target, const float* source, std::uint64_t* signal, cudaStream_t stream) { /* SNIPPET */
}
