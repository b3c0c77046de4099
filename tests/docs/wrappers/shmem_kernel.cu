/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <cstdint>
#include <gdrkit/shmem_device.cuh>

/* SNIPPET */
