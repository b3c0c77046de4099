/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* GPU memory of the fake provider with known content, and a comparison with the provider's memory. */
#ifndef GDRKIT_KERNEL_BUFFER_H
#define GDRKIT_KERNEL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "../support/fake.h"

#define GPU_PAGE ((size_t)FAKE_P2P_PAGE)

/* Bytes that differ from their neighbours and from those of another seed. */
void buffer_fill(unsigned char *bytes, size_t size, unsigned int seed);

/* Allocates and fills; all layouts of pages. */
uint64_t buffer_make(size_t size, enum fake_p2p_layout layout, unsigned int seed);

/* Fails the test with the first wrong byte unless the provider's memory contains the bytes of `seed`. */
void buffer_check(uint64_t va, size_t size, unsigned int seed);
/* The same for memory that this program can read: a mapping, or a copy of one. */
void bytes_check(const volatile unsigned char *bytes, size_t size, unsigned int seed);

/* The signal raised by one load from `address`; 0: none. Not thread-safe. */
int signal_of_load(const volatile unsigned char *address);

#endif
