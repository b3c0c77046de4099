/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A path of NVSHMEM's. */
#error "gdrkit has no IBGDA transport: use the functions of nvshmem.h and nvshmemx.h"
