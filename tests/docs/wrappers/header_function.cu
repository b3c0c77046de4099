/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <gdrkit/shmem.h>
#include <cstdint>
#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_device.cuh>

__global__ void snippet(gdrkit_shmem_device_state pe, gdrkit_shmem_team_t team, float* target, const float* source,
                        std::uint64_t* signal, std::size_t count, int peer) {
  /* SNIPPET */
}
