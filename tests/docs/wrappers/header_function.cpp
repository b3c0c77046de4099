/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <cstdint>
#include <cstdio>
#include <gdrkit/gdrkit.hpp>
#include <gdrkit/shmem.hpp>
#include <span>
#include <vector>

void snippet(void* device_pointer, std::size_t bytes);

void snippet(void* device_pointer, std::size_t bytes) { /* SNIPPET */
}
