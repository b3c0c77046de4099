// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Memory allocations of Linux fail one by one, in each call of a program.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "client.h"

#define SIZE (3 * PAGE)
#define MOST_ALLOCATIONS 500

static int switch_of_this_thread(void)
{
	int file = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);

	CHECK(file >= 0);
	return file;
}

static void arm(int file, int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", nth);

	CHECK_EQ(pwrite(file, text, length, 0), length);
}

/* Whether the armed failure has occurred; disarms. */
static bool has_struck(int file)
{
	char text[16] = "";

	CHECK(pread(file, text, sizeof(text) - 1, 0) > 0);
	arm(file, 0);
	return atoi(text) == 0;
}

/* The lifetime of a file; each step may fail, and the following ones are then left out. */
static void live(uint64_t va)
{
	int file = open(NODE, O_RDWR | O_CLOEXEC);
	struct gdrdrv_pin_v2_request request = { .address = va, .size_bytes = SIZE };
	void *bytes;

	if (file < 0)
		return;
	if (ioctl(file, GDRDRV_PIN_V2, &request) == 0) {
		bytes = try_map(file, request.handle, SIZE);
		if (bytes != MAP_FAILED) {
			touch(bytes); /* SIGBUS if a page table page cannot be allocated */
			if (munmap(bytes, SIZE)) /* refused once */
				CHECK_EQ(munmap(bytes, SIZE), 0);
		}
		unpin(file, request.handle);
	}
	close(file);
}

static void check_every_allocation(void)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	int file = switch_of_this_thread(), nth;

	for (nth = 1; nth < MOST_ALLOCATIONS; nth++) {
		arm(file, nth);
		live(va);
		if (!has_struck(file))
			break;
		CHECK_EQ(pins_out(), 0);
	}
	test_note("%d allocations refused, one at a time", nth - 1);
	CHECK(nth > 5 && nth < MOST_ALLOCATIONS);
	close(file);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

TEST_CHECKED(refused_memory_leaves_nothing_behind_persistent, 60)
{
	load_kind(true);
	check_every_allocation();
}

TEST_CHECKED(refused_memory_leaves_nothing_behind_revocable, 60)
{
	load_kind(false);
	check_every_allocation();
}
