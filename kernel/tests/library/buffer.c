// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "buffer.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "../support/test.h"

static unsigned char byte_of(size_t at, unsigned int seed)
{
	return (unsigned char)(seed * 101 + at * 37 + (at >> 8) * 11 + (at >> 16) * 3);
}

void buffer_fill(unsigned char *bytes, size_t size, unsigned int seed)
{
	for (size_t at = 0; at < size; at++)
		bytes[at] = byte_of(at, seed);
}

uint64_t buffer_make(size_t size, enum fake_p2p_layout layout, unsigned int seed)
{
	unsigned char *bytes = malloc(size);
	uint64_t va = fake_alloc(size, layout);

	CHECK(bytes != NULL);
	buffer_fill(bytes, size, seed);
	fake_write(va, bytes, size);
	free(bytes);
	return va;
}

void bytes_check(const volatile unsigned char *bytes, size_t size, unsigned int seed)
{
	for (size_t at = 0; at < size; at++) {
		if (bytes[at] != byte_of(at, seed))
			test_fail(__FILE__, __LINE__, "byte %zu of %zu is 0x%02x, not 0x%02x (seed %u)", at, size, bytes[at],
				  byte_of(at, seed), seed);
	}
}

void buffer_check(uint64_t va, size_t size, unsigned int seed)
{
	unsigned char *bytes = malloc(size);

	CHECK(bytes != NULL);
	fake_read(va, bytes, size);
	bytes_check(bytes, size, seed);
	free(bytes);
}

static sigjmp_buf back;
static volatile sig_atomic_t caught;

static void jump_back(int number)
{
	caught = number;
	siglongjmp(back, 1);
}

int signal_of_load(const volatile unsigned char *address)
{
	struct sigaction action = { .sa_handler = jump_back }, bus, segv;

	sigaction(SIGBUS, &action, &bus);
	sigaction(SIGSEGV, &action, &segv);
	caught = 0;
	if (sigsetjmp(back, 1) == 0)
		(void)*address;
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	return caught;
}
