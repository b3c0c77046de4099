// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Handles are ranges of pages below a limit. They do not overlap and are reused only after all others.
#include <stdlib.h>

#include "../support/gdrdrv.h"

/* 4 KiB pages per GPU page. */
#define STEP 16

TEST_LOADED(handles_are_not_reused_before_a_wrap, "handle_limit=1024") /* 64 ranges of one GPU page */
{
	uint64_t va = fake_alloc(PAGE, FAKE_P2P_CONTIGUOUS);
	bool seen[64] = {};
	int file = open_node();

	for (int i = 0; i < 64; i++) {
		uint64_t handle = pin(file, va, PAGE);

		CHECK_EQ(handle % STEP, 0);
		CHECK(handle < 1024 && !seen[handle / STEP]);
		seen[handle / STEP] = true;
		CHECK_EQ(unpin(file, handle), 0);
	}
	CHECK_EQ(unpin(file, pin(file, va, PAGE)), 0); /* wraps around */
}

TEST_LOADED(wrap_skips_handles_that_are_live, "handle_limit=128") /* 8 ranges */
{
	uint64_t va = fake_alloc(4 * PAGE, FAKE_P2P_CONTIGUOUS), kept, wide;
	int file = open_node();

	CHECK_EQ(unpin(file, pin(file, va, PAGE)), 0);
	kept = pin(file, va, PAGE);
	for (int i = 0; i < 50; i++) {
		uint64_t handle = pin(file, va, PAGE);

		CHECK(handle != kept && handle + STEP <= 128);
		CHECK_EQ(info(file, kept).mapped_bytes, PAGE);
		CHECK_EQ(unpin(file, handle), 0);
	}
	wide = pin(file, va, 4 * PAGE);
	CHECK(wide + 4 * STEP <= 128 && (wide > kept || wide + 4 * STEP <= kept));
	CHECK_EQ(info(file, wide).mapped_bytes, 4 * PAGE);
}

TEST_LOADED(full_handle_space_fails_with_enomem_and_recovers, "handle_limit=128")
{
	uint64_t va = fake_alloc(16 * PAGE, FAKE_P2P_CONTIGUOUS), handles[8];
	int file = open_node(), other = open_node();

	CHECK_ERRNO(try_pin(file, va, 9 * PAGE), ENOMEM);
	for (int i = 0; i < 8; i++)
		handles[i] = pin(file, va, PAGE);
	CHECK_ERRNO(try_pin(file, va, PAGE), ENOMEM);
	CHECK_EQ(provider_pins(), 8);
	CHECK_EQ(try_pin(other, va, 8 * PAGE), 0); /* each open file has its own handles */
	CHECK_EQ(unpin(file, handles[3]), 0);
	CHECK_ERRNO(try_pin(file, va, 2 * PAGE), ENOMEM);
	CHECK_EQ(pin(file, va, PAGE), handles[3]);
	CHECK_EQ(unpin(file, handles[5]), 0);
	CHECK_EQ(unpin(file, handles[6]), 0);
	CHECK_EQ(pin(file, va, 2 * PAGE), handles[5]);
}

/* The VMA of a released pin still covers its offsets: a zap or fault of another pin there would affect it. */
TEST_LOADED(handle_of_a_live_vma_is_not_reused, "handle_limit=64") /* 4 ranges */
{
	uint64_t va = fake_alloc(PAGE, FAKE_P2P_CONTIGUOUS), stale;
	unsigned char *bytes;
	int file = open_node();

	stale = pin(file, va, PAGE);
	bytes = map(file, stale, PAGE);
	CHECK_EQ(unpin(file, stale), 0);
	for (int i = 0; i < 20; i++) {
		uint64_t handle = pin(file, va, PAGE);

		CHECK(handle != stale);
		CHECK_ERRNO(try_info(file, stale), EINVAL);
		CHECK_EQ(unpin(file, handle), 0);
	}
	CHECK_EQ(touch(bytes), 7);
	CHECK_EQ(munmap(bytes, PAGE), 0);
	for (int i = 0; i < 4; i++)
		pin(file, va, PAGE); /* all four are free again */
	CHECK_ERRNO(try_pin(file, va, PAGE), ENOMEM);
}

TEST_PERSISTENT(handle_limits_out_of_range_do_not_load)
{
	CHECK_EQ(module_unload("gdrdrv"), 0);
	CHECK_EQ(module_load("gdrdrv", "handle_limit=15"), EINVAL);
	CHECK_EQ(module_load("gdrdrv", "handle_limit=4294967297"), EINVAL);
	CHECK_EQ(module_load("gdrdrv", "handle_limit=0"), EINVAL);
	CHECK_EQ(module_load("gdrdrv", "handle_limit=16"), 0);
}

/* Random lengths and lifetimes in a small space, compared with an array of used pages. */
TEST_LOADED(ranges_never_overlap_under_random_use, "handle_limit=1024")
{
	struct {
		uint64_t handle, pages;
	} live[64] = {};
	static bool taken[1024];
	uint64_t va = fake_alloc(8 * PAGE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();

	srand(7);
	for (int i = 0; i < 3000; i++) {
		int slot = rand() % 64;
		uint64_t at = live[slot].handle, pages = live[slot].pages;
		struct gdrdrv_pin_v2_request request = { .address = va, .size_bytes = (rand() % 8 + 1) * PAGE };

		for (uint64_t page = 0; page < pages; page++)
			taken[at + page] = false;
		if (pages)
			CHECK_EQ(unpin(file, at), 0);
		live[slot].pages = 0;
		if (ioctl(file, GDRDRV_PIN_V2, &request)) {
			CHECK_EQ(errno, ENOMEM);
			continue;
		}
		live[slot].handle = request.handle;
		live[slot].pages = request.size_bytes / 4096;
		for (uint64_t page = 0; page < live[slot].pages; page++) {
			CHECK(!taken[request.handle + page]);
			taken[request.handle + page] = true;
		}
	}
}
