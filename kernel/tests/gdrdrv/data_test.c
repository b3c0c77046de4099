// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Data written on one side of a mapping is read on the other, with every page layout.
#include <stdio.h>
#include <stdlib.h>

#include "../support/gdrdrv.h"

#define PAGES 37
#define SIZE (PAGES * PAGE)

/* Copies single bytes: the access size on the write-combining mapping is up to the CPU. */
static void copy(volatile unsigned char *to, const volatile unsigned char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
	__sync_synchronize();
}

static void check_both_ways(enum fake_p2p_layout layout, size_t mapped_size)
{
	unsigned char *out = malloc(SIZE), *in = malloc(SIZE);
	uint64_t va = fake_alloc(SIZE, layout);
	int file = open_node();
	uint64_t handle = pin(file, va, SIZE);
	unsigned char *mapped = map(file, handle, mapped_size);

	bytes_fill(out, SIZE, 3 + layout);
	fake_write(va, out, SIZE);
	copy(in, mapped, mapped_size);
	CHECK(memcmp(in, out, mapped_size) == 0);

	bytes_fill(out, SIZE, 77 + layout);
	copy(mapped, out, mapped_size);
	fake_read(va, in, mapped_size);
	CHECK(memcmp(in, out, mapped_size) == 0);

	CHECK_EQ(munmap(mapped, mapped_size), 0);
	CHECK_EQ(unpin(file, handle), 0);
	fake_free(va);
	close(file);
	free(out);
	free(in);
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
	uint64_t va = fake_alloc(size, FAKE_P2P_RUNS), word;
	int file = open_node();
	uint64_t handle = pin(file, va, size);
	volatile uint64_t *mapped = map(file, handle, size);

	for (uint64_t page = 0; page < 100; page++) {
		word = 0x1000 + page;
		fake_write(va + page * PAGE + 8, &word, 8);
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
	uint64_t va = fake_alloc(PAGE, FAKE_P2P_CONTIGUOUS), word = 0x77;
	int file = open_node();
	uint64_t handle = pin(file, va, PAGE);
	unsigned char *mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, (off_t)(handle * 4096));

	CHECK(mapped != MAP_FAILED);
	fake_write(va, &word, 8);
	CHECK_EQ(mapped[0], 0x77);
	CHECK_EQ(touch_write(mapped), 11);
	fake_read(va, &word, 8);
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
