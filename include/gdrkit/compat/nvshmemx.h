/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's extensions (nvshmemx_...), which nvshmem.h declares as well, and the tile functions. */
#ifndef GDRKIT_COMPAT_NVSHMEMX_H
#define GDRKIT_COMPAT_NVSHMEMX_H

#include "nvshmem.h"
#include "nvshmem_tile.h"

#endif
