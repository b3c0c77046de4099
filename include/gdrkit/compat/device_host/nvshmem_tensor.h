/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Provides a header path of NVSHMEM. */
#include "../nvshmem.h"
#include "../nvshmem_tensor.h"
