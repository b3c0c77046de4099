/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <gdrkit/shmem.h>
#include <cstdint>
#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_device.cuh>

/* SNIPPET */
