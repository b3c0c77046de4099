// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Growth of cost. Absolute times under software emulation are meaningless, so only ratios are checked, with large
// margins.
#include "../support/gdrdrv.h"

#define MAX_PAGES 16384

enum part { PIN, MAP, UNMAP, UNPIN, PARTS };

/* Keeps the minimum of several runs: disturbances only add time. */
static void keep_minimum(uint64_t *minimum, uint64_t start)
{
	uint64_t taken = test_now_ns() - start;

	if (taken < *minimum)
		*minimum = taken;
}

static void measure(int file, uint64_t va, uint64_t pages, uint64_t minimum[PARTS])
{
	for (int part = 0; part < PARTS; part++)
		minimum[part] = ~0ULL;
	for (int i = 0; i < 5; i++) {
		uint64_t start = test_now_ns(), handle = pin(file, va, pages * PAGE);
		void *bytes;

		keep_minimum(&minimum[PIN], start);
		start = test_now_ns();
		bytes = map(file, handle, pages * PAGE);
		keep_minimum(&minimum[MAP], start);
		start = test_now_ns();
		CHECK_EQ(munmap(bytes, pages * PAGE), 0);
		keep_minimum(&minimum[UNMAP], start);
		start = test_now_ns();
		CHECK_EQ(unpin(file, handle), 0);
		keep_minimum(&minimum[UNPIN], start);
	}
}

/*
 * From 1024 to 16384 pages, linear growth is 16 times the cost and quadratic growth 256 times. The machine is emulated
 * on a busy host, so up to 160 times is accepted.
 */
static void check_growth(bool is_persistent, enum fake_p2p_layout layout)
{
	static const char *const names[] = { "pin", "map", "unmap", "unpin" };
	static const uint64_t counts[] = { 1, 16, 256, 1024, MAX_PAGES };
	uint64_t va = fake_alloc(MAX_PAGES * PAGE, layout), cost[5][PARTS];
	int file = open_node();

	for (int i = 0; i < 5; i++) {
		measure(file, va, counts[i], cost[i]);
		test_note("persistent %d, layout %d, %llu pages of 64 KiB: pin %llu us, map %llu us, unmap %llu us, unpin %llu us",
			  is_persistent, layout, (unsigned long long)counts[i], (unsigned long long)cost[i][PIN] / 1000,
			  (unsigned long long)cost[i][MAP] / 1000, (unsigned long long)cost[i][UNMAP] / 1000,
			  (unsigned long long)cost[i][UNPIN] / 1000);
	}
	for (int part = 0; part < PARTS; part++) {
		uint64_t allowed = cost[3][part] * 16 * 10 + 50000000;

		if (cost[4][part] > allowed)
			test_fail(__FILE__, __LINE__, "%s takes %llu us for %d pages and %llu us for 1024", names[part],
				  (unsigned long long)cost[4][part] / 1000, MAX_PAGES,
				  (unsigned long long)cost[3][part] / 1000);
	}
	close(file);
	fake_free(va);
}

TEST_WITHIN(cost_grows_no_faster_than_pages, 240)
{
	test_skip_on_checked();
	for (int is_persistent = 1; is_persistent >= 0; is_persistent--) {
		load_kind(is_persistent);
		check_growth(is_persistent, FAKE_P2P_CONTIGUOUS);
		check_growth(is_persistent, FAKE_P2P_REVERSED);
	}
}

static uint64_t cost_of_lookups(int file, const uint64_t *handles, int count)
{
	uint64_t minimum = ~0ULL;

	for (int i = 0; i < 7; i++) {
		uint64_t start = test_now_ns();

		for (int j = 0; j < 500; j++)
			is_revoked(file, handles[(uint64_t)j * 7919 % count]);
		keep_minimum(&minimum, start);
	}
	return minimum / 500;
}

/* A linear search would take a hundred times as long with 10000 handles as with 100. */
TEST_WITHIN(lookup_cost_does_not_grow_with_handles, 120)
{
	static uint64_t handles[10000];
	uint64_t va = fake_alloc(PAGE, FAKE_P2P_CONTIGUOUS), few, many;
	int file;

	test_skip_on_checked();
	load("dbg_enabled=0");
	file = open_node();
	for (int i = 0; i < 100; i++)
		handles[i] = pin(file, va, PAGE);
	few = cost_of_lookups(file, handles, 100);
	for (int i = 100; i < 10000; i++)
		handles[i] = pin(file, va, PAGE);
	many = cost_of_lookups(file, handles, 10000);
	test_note("lookup with 100 handles %llu ns, with 10000 %llu ns (minimum of 7 averages over 500)",
		  (unsigned long long)few, (unsigned long long)many);
	CHECK(many < few * 5 + 2000);
	for (int i = 0; i < 10000; i++)
		CHECK_EQ(unpin(file, handles[i]), 0);
}
