// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The fake provider alone, because every other group depends on it.
#include <fcntl.h>
#include <sys/ioctl.h>

#include "../support/fake.h"
#include "../support/test.h"

#define PAGES 7
#define SIZE (PAGES * FAKE_P2P_PAGE)

TEST(memory_keeps_written_data_in_every_layout)
{
	for (int layout = 0; layout < FAKE_P2P_LAYOUTS; layout++) {
		uint64_t va = fake_alloc_filled(SIZE, layout, layout);
		unsigned char whole[SIZE], part[5];

		fake_read(va, whole, SIZE);
		bytes_check(whole, SIZE, layout);
		fake_read(va + 65533, part, 5);
		CHECK(memcmp(whole + 65533, part, 5) == 0);
		fake_free(va);
	}
}

TEST(contiguous_memory_is_contiguous_and_scattered_memory_is_not)
{
	uint64_t contiguous = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	uint64_t reversed = fake_alloc(SIZE, FAKE_P2P_REVERSED), runs = fake_alloc(SIZE, FAKE_P2P_RUNS);
	int breaks = 0;

	for (uint64_t at = FAKE_P2P_PAGE; at < SIZE; at += FAKE_P2P_PAGE) {
		CHECK_EQ(fake_physical(contiguous + at), fake_physical(contiguous) + at);
		CHECK_EQ(fake_physical(reversed + at), fake_physical(reversed) - at);
		breaks += fake_physical(runs + at) != fake_physical(runs + at - FAKE_P2P_PAGE) + FAKE_P2P_PAGE;
	}
	CHECK_EQ(breaks, 2);
}

TEST(allocations_do_not_share_pages)
{
	uint64_t first = fake_alloc(SIZE, FAKE_P2P_RUNS), second = fake_alloc(SIZE, FAKE_P2P_REVERSED);

	for (uint64_t a = 0; a < SIZE; a += FAKE_P2P_PAGE) {
		for (uint64_t b = 0; b < SIZE; b += FAKE_P2P_PAGE)
			CHECK(fake_physical(first + a) != fake_physical(second + b));
	}
	CHECK_EQ(fake_report().used_pages, 2 * PAGES);
}

TEST(freed_memory_is_inaccessible)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int control = open(FAKE_P2P_NODE, O_RDWR);
	char byte;

	fake_free(va);
	CHECK_ERRNO(pread(control, &byte, 1, (off_t)va), EFAULT);
	CHECK_EQ(fake_report().used_pages, 0);
}

TEST(closing_the_node_frees)
{
	fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	fake_close();
	CHECK_EQ(fake_report().allocations, 0);
}

TEST(invalid_requests_are_rejected)
{
	int control = open(FAKE_P2P_NODE, O_RDWR);
	struct fake_p2p_alloc none = { .size = 0 }, layout = { .size = 1, .layout = FAKE_P2P_LAYOUTS };
	struct fake_p2p_alloc huge = { .size = fake_report().total_pages * FAKE_P2P_PAGE + 1 };
	struct fake_p2p_address nowhere = { .va = 12345 };
	struct fake_p2p_setting knob = { .knob = FAKE_P2P_KNOBS };
	struct fake_p2p_failure call = { .call = FAKE_CALLS, .nth = 1, .error = EIO };

	CHECK_ERRNO(ioctl(control, FAKE_P2P_IOC_ALLOC, &none), EINVAL);
	CHECK_ERRNO(ioctl(control, FAKE_P2P_IOC_ALLOC, &layout), EINVAL);
	CHECK_ERRNO(ioctl(control, FAKE_P2P_IOC_ALLOC, &huge), ENOMEM);
	CHECK_ERRNO(ioctl(control, FAKE_P2P_IOC_ALLOC, NULL), EFAULT);
	CHECK_ERRNO(ioctl(control, FAKE_P2P_IOC_FREE, &nowhere), EINVAL);
	CHECK_ERRNO(ioctl(control, FAKE_P2P_IOC_SET, &knob), EINVAL);
	CHECK_ERRNO(ioctl(control, FAKE_P2P_IOC_FAIL, &call), EINVAL);
	CHECK_ERRNO(ioctl(control, _IO('K', 99), NULL), ENOTTY);
}

TEST(module_of_the_other_flavour_does_not_load_in_addition)
{
	const char *other = strcmp(module_flavour(), "open") == 0 ? "proprietary" : "open";

	if (test_is_checked())
		test_skip("the debug Linux runs one flavour");
	CHECK_EQ(module_load_of(other, "fake_p2p", ""), EEXIST);
	CHECK_EQ(module_load("no_such_module", ""), ENOENT);
}
