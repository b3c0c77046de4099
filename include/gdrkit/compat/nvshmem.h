/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's API implemented on gdrkit shmem, for programs that were written for NVSHMEM. The functions can be called
 * from the CPU (C11, C++17), on streams, and in GPU kernels (nvcc, C++17). docs/shmem-from-nvshmem.md describes
 * compilation, differences and missing functions. A call to a missing function fails to compile with a message.
 *
 * Functions that return void print the error and abort if they fail. Functions that allocate print the error and return
 * NULL; for a size of 0 they return NULL and print nothing. A wait in a GPU kernel returns if it exceeds the limit, and
 * the next barrier_all or quiet of the CPU reports the timeout. */
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
