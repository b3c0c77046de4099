/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <cstdint>
#include <cstdio>
#include <gdrkit/gdrkit.hpp>
#include <gdrkit/shmem.hpp>
#include <span>
#include <vector>

/* SNIPPET */
