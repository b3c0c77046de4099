/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's names on gdrkit shmem, for programs that were written for NVSHMEM: from the CPU (C11, C++17), on streams,
 * and in GPU kernels (nvcc, C++17).  docs/shmem-from-nvshmem.md describes compilation, differences and missing
 * functions. A call of a missing function does not compile, with a message.
 *
 * Functions that NVSHMEM declares to return nothing print what failed and abort.  A wait of a GPU kernel that exceeds
 * the limit returns; the next barrier_all or quiet of the CPU reports it. */
#ifndef GDRKIT_COMPAT_NVSHMEM_H
#define GDRKIT_COMPAT_NVSHMEM_H

#include "nvshmem_atomics.h"
#include "nvshmem_base.h"
#include "nvshmem_extensions.h"
#include "nvshmem_rma.h"
#include "nvshmem_setup.h"
#include "nvshmem_teams.h"
#include "nvshmem_waits.h"

#endif
