/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <gdrkit/shmem.h>

float* allocate(size_t bytes);
void snippet(const float* gradient, size_t bytes, int next);

void snippet(const float* gradient, size_t bytes, int next) { /* SNIPPET */
}
