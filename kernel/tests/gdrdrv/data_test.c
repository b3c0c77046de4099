// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Data written on one side of a mapping is read on the other, with every page layout.
#include <stdio.h>

#include "../support/gdrdrv.h"

#define PAGES 37
#define SIZE (PAGES * PAGE)

static void check_both_ways(enum fake_p2p_layout layout, size_t mapped_size)
{
	uint64_t va = fake_alloc_filled(SIZE, layout, 3 + layout);
	int file = open_node();
	uint64_t handle = pin(file, va, SIZE);
	unsigned char *mapped = map(file, handle, mapped_size);

	bytes_check(mapped, mapped_size, 3 + layout);
	bytes_fill(mapped, mapped_size, 77 + layout);
	__sync_synchronize();
	fake_check(va, mapped_size, 77 + layout);
	for (size_t at = 0; at < mapped_size; at += 4096) {
		uint64_t word = 0x1000 + at;

		fake_write(va + at, &word, sizeof(word));
		CHECK_EQ(*(volatile uint64_t *)(mapped + at), word);
	}

	CHECK_EQ(munmap(mapped, mapped_size), 0);
	CHECK_EQ(unpin(file, handle), 0);
	fake_free(va);
	close(file);
}

TEST_BOTH(data_is_copied_both_ways_in_every_layout)
{
	for (int layout = 0; layout < FAKE_P2P_LAYOUTS; layout++) {
		check_both_ways(layout, SIZE);
		check_both_ways(layout, SIZE - 5 * 4096);
		check_both_ways(layout, 4096);
	}
}

/* Touches middle pages first: a fault must map the pages before and after the touched one correctly. */
TEST_BOTH(data_is_right_with_any_order_of_first_touches)
{
	static const unsigned int order[] = { 70, 0, 99, 31, 64, 32 };
	const uint64_t size = 100 * PAGE; /* more than two fault windows */
	struct pinned made = map_new(size);
	volatile uint64_t *mapped = (volatile uint64_t *)made.bytes;

	for (uint64_t page = 0; page < 100; page++) {
		uint64_t word = 0x1000 + page;

		fake_write(made.va + page * PAGE + 8, &word, 8);
	}
	for (size_t i = 0; i < COUNT(order); i++)
		CHECK_EQ(mapped[order[i] * PAGE / 8 + 1], 0x1000 + order[i]);
	for (uint64_t page = 0; page < 100; page++)
		CHECK_EQ(mapped[page * PAGE / 8 + 1], 0x1000 + page);
}

TEST_BOTH(two_pins_of_one_range_map_the_same_memory)
{
	uint64_t va = fake_alloc(4 * PAGE, FAKE_P2P_REVERSED);
	int file = open_node(), other = open_node();
	uint64_t a = pin(file, va, 4 * PAGE), b = pin(file, va + PAGE, 2 * PAGE), c = pin(other, va, 4 * PAGE);
	volatile uint32_t *first = map(file, a, 4 * PAGE), *second = map(file, b, 2 * PAGE);
	volatile uint32_t *third = map(other, c, 4 * PAGE);

	CHECK(a != b);
	first[PAGE / 4 + 5] = 0xabcd1234;
	__sync_synchronize();
	CHECK_EQ(second[5], 0xabcd1234);
	CHECK_EQ(third[PAGE / 4 + 5], 0xabcd1234);
	CHECK_EQ(unpin(file, a), 0);
	CHECK_EQ(touch(first), 7);
	CHECK_EQ(second[5], 0xabcd1234);
	CHECK_EQ(third[PAGE / 4 + 5], 0xabcd1234);
}

TEST_BOTH(read_only_mapping_reads_and_does_not_write)
{
	struct pinned made = pin_new(PAGE);
	unsigned char *mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, made.file, (off_t)(made.handle * 4096));
	uint64_t word = 0x77;

	CHECK(mapped != MAP_FAILED);
	fake_write(made.va, &word, 8);
	CHECK_EQ(mapped[0], 0x77);
	CHECK_EQ(touch_write(mapped), 11);
	fake_read(made.va, &word, 8);
	CHECK_EQ(word, 0x77);
}

/* Linux lists physical ranges with their cache mode: "PAT: [mem 0x...-0x...] write-combining". */
static int count_entries(uint64_t start, uint64_t size, const char *type)
{
	char line[256], expected[128];
	FILE *list = fopen("/sys/kernel/debug/x86/pat_memtype_list", "r");
	int found = 0;

	if (!list)
		test_skip("debugfs has no pat_memtype_list");
	snprintf(expected, sizeof(expected), "[mem 0x%016llx-0x%016llx] %s", (unsigned long long)start,
		 (unsigned long long)(start + size), type);
	while (fgets(line, sizeof(line), list))
		found += strstr(line, expected) != NULL;
	fclose(list);
	return found;
}

TEST_BOTH(mapped_pages_are_listed_write_combining_until_unpinned)
{
	uint64_t va = fake_alloc(2 * PAGE, FAKE_P2P_REVERSED), first = fake_physical(va), second = fake_physical(va + PAGE);
	int file = open_node();
	uint64_t handle = pin(file, va, 2 * PAGE);
	void *mapped = map(file, handle, 2 * PAGE);

	CHECK_EQ(info(file, handle).mapping_type, GDRDRV_MAPPING_WC);
	CHECK_EQ(count_entries(first, PAGE, "write-combining"), 1);
	CHECK_EQ(count_entries(second, PAGE, "write-combining"), 1);
	CHECK_EQ(munmap(mapped, 2 * PAGE), 0);
	CHECK_EQ(unpin(file, handle), 0);
	CHECK_EQ(count_entries(first, PAGE, ""), 0);
	CHECK_EQ(count_entries(second, PAGE, ""), 0);
}
