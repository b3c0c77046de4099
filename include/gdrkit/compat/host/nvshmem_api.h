/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A path of NVSHMEM's. */
#include "../nvshmem.h"
