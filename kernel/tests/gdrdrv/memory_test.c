// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fault injection: in each call of a program, every allocation fails once.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "../support/gdrdrv.h"

#define SIZE (3 * PAGE)
#define MAX_ALLOCATIONS 500

static int open_fail_nth(void)
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

/* Whether the armed failure has occurred. Disarms it. */
static bool has_failed(int file)
{
	char text[16] = "";

	CHECK(pread(file, text, sizeof(text) - 1, 0) > 0);
	arm(file, 0);
	return atoi(text) == 0;
}

/* Open, pin, map, touch, unmap, unpin, close. After a failed step, the steps that depend on it are skipped. */
static void run_sequence(uint64_t va)
{
	int file = open(NODE, O_RDWR | O_CLOEXEC);
	struct gdrdrv_pin_v2_request request = { .address = va, .size_bytes = SIZE };
	void *bytes;

	if (file < 0)
		return;
	if (ioctl(file, GDRDRV_PIN_V2, &request) == 0) {
		bytes = try_map(file, request.handle, SIZE);
		if (bytes != MAP_FAILED) {
			touch(bytes); /* raises SIGBUS if a page table cannot be allocated */
			if (munmap(bytes, SIZE)) /* the injected failure */
				CHECK_EQ(munmap(bytes, SIZE), 0);
		}
		unpin(file, request.handle);
	}
	close(file);
}

static void check_every_allocation(void)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	int file = open_fail_nth(), nth;

	for (nth = 1; nth < MAX_ALLOCATIONS; nth++) {
		arm(file, nth);
		run_sequence(va);
		if (!has_failed(file))
			break;
		CHECK_EQ(provider_pins(), 0);
	}
	test_note("%d allocations failed, one at a time", nth - 1);
	CHECK(nth > 5 && nth < MAX_ALLOCATIONS);
	close(file);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

TEST_CHECKED(failed_allocations_leak_nothing, 120)
{
	load_kind(true);
	check_every_allocation();
	load_kind(false);
	check_every_allocation();
}
