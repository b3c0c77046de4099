// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The request sequences of GDRCopy's libraries 2.0 to 2.6. A library sends newer requests only if the module's version
// includes them, so each release is a feature level.
#include <fcntl.h>

#include "../support/gdrdrv.h"

#define SIZE (5 * PAGE)

/* The first minor versions with these requests. The second also has pin_v2 and mapping types. */
enum { INFO_V2 = 4, ATTRIBUTES = 5 };

static int open_as(int minor)
{
	struct gdrdrv_version_request version = {};
	int file = open(NODE, O_RDWR | O_CLOEXEC);

	CHECK(file >= 0);
	CHECK_EQ(ioctl(file, GDRDRV_GET_VERSION, &version), 0);
	CHECK(version.version >> 16 == 2); /* every library requires at least 2.0 */
	CHECK(version.minimum_api <= (2u << 16 | minor));
	return file;
}

/* The library stores handles in 32 bits and does not clear its structures before use. */
static uint32_t pin_as(int minor, int file, uint64_t address, uint64_t size)
{
	struct gdrdrv_pin_request first;
	struct gdrdrv_pin_v2_request second;

	memset(&first, 0xee, sizeof(first));
	memset(&second, 0xee, sizeof(second));
	if (minor >= ATTRIBUTES) {
		second.address = address;
		second.size_bytes = size;
		second.flags = 0;
		CHECK_EQ(ioctl(file, GDRDRV_PIN_V2, &second), 0);
		CHECK(second.handle < 1ULL << 32);
		return (uint32_t)second.handle;
	}
	first.address = address;
	first.size_bytes = size;
	first.p2p_token = 0;
	first.va_space = 0;
	CHECK_EQ(ioctl(file, GDRDRV_PIN, &first), 0);
	CHECK(first.handle < 1ULL << 32);
	return (uint32_t)first.handle;
}

static void check_info(int minor, int file, uint32_t handle, uint64_t va, bool is_mapped)
{
	struct gdrdrv_info_v2_request newer = { .handle = handle };
	struct gdrdrv_info_request older = { .handle = handle };

	if (minor >= INFO_V2) {
		CHECK_EQ(ioctl(file, GDRDRV_INFO_V2, &newer), 0);
		CHECK_EQ(newer.address, va);
		CHECK_EQ(newer.mapped_bytes, SIZE);
		CHECK_EQ(newer.mapping_type, is_mapped ? GDRDRV_MAPPING_WC : GDRDRV_MAPPING_NONE);
	}
	CHECK_EQ(ioctl(file, GDRDRV_INFO, &older), 0);
	CHECK_EQ(older.address, va);
	CHECK_EQ(older.mapped_bytes, SIZE);
	CHECK_EQ(older.page_bytes, 65536);
	CHECK_EQ(older.is_mapped, is_mapped);
	CHECK_EQ(older.is_write_combining, is_mapped);
}

static void run_life(int minor, bool is_persistent)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS), word = 0xfeedface;
	int file = open_as(minor);
	struct gdrdrv_attribute_request attribute = { .attribute = GDRDRV_ATTRIBUTE_PERSISTENT };
	uint32_t handle = pin_as(minor, file, va, SIZE);
	unsigned char *bytes;

	if (minor >= ATTRIBUTES) {
		CHECK_EQ(ioctl(file, GDRDRV_ATTRIBUTE, &attribute), 0);
		CHECK_EQ(attribute.value, is_persistent);
		CHECK_EQ(request_type(file, handle, GDRDRV_MAPPING_NONE), 0);
	}
	check_info(minor, file, handle, va, false);
	bytes = map(file, handle, SIZE);
	check_info(minor, file, handle, va, true);
	CHECK(!is_revoked(file, handle));
	fake_write(va + SIZE - 8, &word, 8);
	CHECK_EQ(*(volatile uint64_t *)(bytes + SIZE - 8), word);
	CHECK_EQ(munmap(bytes, SIZE), 0);
	check_info(minor, file, handle, va, false);
	CHECK_EQ(unpin(file, handle), 0);
	close(file);
	fake_free(va);
}

TEST_BOTH(requests_of_libraries_2_0_to_2_6_succeed)
{
	for (int minor = 0; minor <= 6; minor++)
		run_life(minor, is_persistent);
}

/* A library that unpins without unmapping, and unmaps later. */
TEST_BOTH(library_that_unpins_before_it_unmaps_works)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_as(6);
	uint32_t handle = pin_as(6, file, va, SIZE);
	unsigned char *bytes = map(file, handle, SIZE);

	CHECK_EQ(unpin(file, handle), 0);
	handle = pin_as(6, file, va, SIZE);
	CHECK_EQ(munmap(bytes, SIZE), 0);
	check_info(6, file, handle, va, false);
	bytes = map(file, handle, SIZE);
	CHECK_EQ(touch_write(bytes), 0);
}

/* GDRCopy's own test pins the same memory twice, with rounding to 320 KiB, and closes without unpinning. */
TEST_BOTH(library_that_closes_without_unpinning_leaks_nothing)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);

	for (int i = 0; i < 10; i++) {
		int file = open_as(5);

		pin_as(5, file, va, 4 * PAGE + 16);
		pin_as(2, file, va, SIZE);
		close(file);
		CHECK_EQ(provider_pins(), 0);
	}
}
