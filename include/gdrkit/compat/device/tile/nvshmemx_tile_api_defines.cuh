/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Provides a header path of NVSHMEM. */
#include "../../nvshmemx.h"
