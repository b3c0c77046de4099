/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* GPU memory of the fake provider with known contents, and checks of the provider's memory. */
#ifndef GDRKIT_KERNEL_BUFFER_H
#define GDRKIT_KERNEL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "../support/fake.h"

#define GPU_PAGE ((size_t)FAKE_P2P_PAGE)

/* Fills bytes that differ from their neighbors and from those of another seed. */
void buffer_fill(unsigned char *bytes, size_t size, unsigned int seed);

/* Allocates GPU memory with this page layout and fills it. */
uint64_t buffer_make(size_t size, enum fake_p2p_layout layout, unsigned int seed);

/* Fails the test and reports the first different byte unless the provider's memory has the bytes of `seed`. */
void buffer_check(uint64_t va, size_t size, unsigned int seed);
/* The same check for memory that this program can read: a mapping, or a copy of one. */
void bytes_check(const volatile unsigned char *bytes, size_t size, unsigned int seed);

/* Returns the signal that one load from `address` raises, or 0. Not thread-safe. */
int signal_of_load(const volatile unsigned char *address);

#endif
