/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Reports that gdrkit does not provide this header of NVSHMEM. */
#error "gdrkit has no IBGDA transport: use the functions of nvshmem.h and nvshmemx.h"
