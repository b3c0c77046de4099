/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <gdrkit/shmem_collectives.cuh>

__global__ void snippet(gdrkit_shmem_device_state pe, gdrkit_shmem_team_t team, float* sums, const float* mine) {
  /* SNIPPET */
}
