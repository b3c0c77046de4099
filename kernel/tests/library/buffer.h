/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* GPU memory of the fake provider with a known content, and what the provider says that it holds. */
#ifndef GDRKIT_KERNEL_BUFFER_H
#define GDRKIT_KERNEL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "../support/fake.h"

#define GPU_PAGE ((size_t)FAKE_P2P_PAGE)

/* Bytes that differ from their neighbours and, for another seed, from these. */
void buffer_fill(unsigned char *bytes, size_t size, unsigned int seed);

/* Allocates and fills; all layouts of pages. */
uint64_t buffer_make(size_t size, enum fake_p2p_layout layout, unsigned int seed);

/* Fails the test, naming the first byte, unless the provider's memory holds the bytes of `seed`. */
void buffer_check(uint64_t va, size_t size, unsigned int seed);
/* The same of memory that this program can read: a mapping, or what was copied from one. */
void bytes_check(const volatile unsigned char *bytes, size_t size, unsigned int seed);

/* The signal that one load from `address` ends in; 0: none. Not for two threads at once. */
int signal_of_load(const volatile unsigned char *address);

#endif
