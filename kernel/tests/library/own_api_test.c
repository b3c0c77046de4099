// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit's C API: opening, data in both directions, and errors.
#include <stdio.h>
#include <stdlib.h>

#include "context.h"

#define SIZE (5 * GPU_PAGE)

TEST(module_is_the_selected_backend)
{
	struct gdrkit_backend_report report = { .struct_size = sizeof(report) };
	struct gdrkit_context_info info = { .struct_size = sizeof(info) };
	gdrkit_context_t context = opened();

	CHECK_EQ(gdrkit_probe_backend(0, &report), 0);
	CHECK(strcmp(report.name, "gdrdrv") == 0 && report.is_usable == 1);
	CHECK_EQ(gdrkit_get_context_info(context, &info), 0);
	CHECK(strcmp(info.backend_name, "gdrdrv") == 0);
	CHECK_EQ(info.page_size_bytes, GPU_PAGE);
	CHECK_EQ(info.is_persistent, 1);
	CHECK_EQ(gdrkit_close(context), 0);
}

TEST(missing_module_is_reported)
{
	struct gdrkit_backend_report report = { .struct_size = sizeof(report) };
	gdrkit_context_t context;

	CHECK_EQ(module_unload("gdrdrv"), 0);
	CHECK_EQ(gdrkit_probe_backend(0, &report), 0);
	CHECK_EQ(report.is_usable, 0);
	CHECK_EQ(-report.error, ENODEV);
	CHECK(strstr(report.reason, "load the optional gdrdrv kernel module") != NULL);
	CHECK_EQ(-gdrkit_open(NULL, &context), ENODEV);
	CHECK_EQ(module_load("gdrdrv", ""), 0);
	CHECK_EQ(gdrkit_close(opened()), 0);
}

static void copy_both_ways(enum fake_p2p_layout layout)
{
	uint64_t va = fake_alloc_filled(SIZE, layout, 1);
	gdrkit_context_t context = opened();
	gdrkit_pin_t pin = pinned(context, va, SIZE);
	unsigned char *address = mapped(pin), *bytes = malloc(SIZE);

	bytes_check(address, SIZE, 1);
	CHECK_EQ(gdrkit_read(pin, 0, bytes, SIZE), 0);
	bytes_check(bytes, SIZE, 1);
	bytes_fill(bytes, SIZE, 2);
	CHECK_EQ(gdrkit_write(pin, 0, bytes, SIZE), 0);
	fake_check(va, SIZE, 2);
	bytes_fill(bytes, SIZE, 3);
	fake_write(va, bytes, SIZE);
	memset(bytes, 0, SIZE);
	CHECK_EQ(gdrkit_read(pin, 0, bytes, SIZE), 0);
	bytes_check(bytes, SIZE, 3);
	CHECK_EQ(gdrkit_unmap(pin), 0);
	CHECK_EQ(gdrkit_unpin(pin), 0);
	CHECK_EQ(gdrkit_close(context), 0);
	fake_free(va);
}

TEST(data_is_right_both_ways_in_every_layout)
{
	for (int layout = 0; layout < FAKE_P2P_LAYOUTS; layout++)
		copy_both_ways(layout);
}

/* Every size at every offset from an unaligned start must change exactly the requested bytes. */
TEST_WITHIN(unaligned_ranges_touch_their_own_bytes_only, 60)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 8, 9, 15, 16, 31, 63, 64, 65, 100, 4095, 4096, 4097, GPU_PAGE + 1 };
	static const size_t offsets[] = { 0, 1, 3, 8, 63, 64, 4095, GPU_PAGE - 1, GPU_PAGE };
	const size_t start = GPU_PAGE + 1001, length = 3 * GPU_PAGE;
	unsigned char *truth = malloc(SIZE), *seen = malloc(SIZE), *source = malloc(SIZE);
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_RUNS, 5);
	gdrkit_context_t context = opened();
	gdrkit_pin_t pin = pinned(context, va + start, length);
	unsigned int seed = 6;

	mapped(pin);
	bytes_fill(truth, SIZE, 5);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		for (size_t j = 0; j < COUNT(offsets); j++) {
			bytes_fill(source, sizes[i], ++seed);
			CHECK_EQ(gdrkit_write(pin, offsets[j], source, sizes[i]), 0);
			memcpy(truth + start + offsets[j], source, sizes[i]);
			memset(seen, 0, sizes[i]);
			CHECK_EQ(gdrkit_read(pin, offsets[j], seen, sizes[i]), 0);
			CHECK(memcmp(seen, source, sizes[i]) == 0);
		}
	}
	fake_read(va, seen, SIZE);
	CHECK(memcmp(seen, truth, SIZE) == 0);
	CHECK_EQ(-gdrkit_write(pin, length - 1, source, 2), EINVAL);
	CHECK_EQ(gdrkit_close(context), 0);
}

static int map_as(gdrkit_pin_t pin, enum gdrkit_mapping_type type, void **address)
{
	struct gdrkit_map_options options = { .struct_size = sizeof(options), .mapping_type = type };

	return gdrkit_map(pin, &options, address);
}

TEST(only_the_platforms_mapping_types_work)
{
	struct gdrkit_pin_info info = { .struct_size = sizeof(info) };
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_CONTIGUOUS, 1);
	gdrkit_context_t context = opened();
	gdrkit_pin_t pin = pinned(context, va, SIZE);
	void *address;

	CHECK_EQ(-map_as(pin, GDRKIT_MAPPING_CACHED, &address), EOPNOTSUPP);
	CHECK_EQ(-map_as(pin, GDRKIT_MAPPING_DEVICE, &address), EOPNOTSUPP);
	CHECK_EQ(map_as(pin, GDRKIT_MAPPING_WRITE_COMBINING, &address), 0);
	CHECK_EQ(-gdrkit_map(pin, NULL, &address), EAGAIN);
	CHECK_EQ(gdrkit_get_pin_info(pin, &info), 0);
	CHECK_EQ(info.mapping_type, GDRKIT_MAPPING_WRITE_COMBINING);
	bytes_check(address, SIZE, 1);
	CHECK_EQ(gdrkit_unmap(pin), 0);
	bytes_check(mapped(pin), SIZE, 1);
	CHECK_EQ(gdrkit_close(context), 0);
}

static void check_pin_error(gdrkit_context_t context, uint64_t va, size_t size, int error, const char *words)
{
	gdrkit_pin_t pin = { 0 };
	int result = gdrkit_pin(context, va, size, &pin);

	if (result != -error || !strstr(gdrkit_last_error(), words))
		test_fail(__FILE__, __LINE__, "pin of %zu bytes at 0x%llx returned %d: %s", size,
			  (unsigned long long)va, result, gdrkit_last_error());
}

TEST(errors_of_the_driver_are_described)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_CONTIGUOUS, 1);
	gdrkit_context_t context = opened();
	char stack;

	check_pin_error(context, 0x1234000, 4096, EINVAL, "not inside one live allocation");
	check_pin_error(context, (uint64_t)(uintptr_t)&stack, 1, EINVAL, "not inside one live allocation");
	check_pin_error(context, va, SIZE + 1, EINVAL, "not inside one live allocation");
	check_pin_error(context, UINT64_MAX - 65535, 65535, EINVAL, "exceeds 64 bits");
	fake_fail(FAKE_P2P_CALL_GET_PERSISTENT, 1, ENOMEM);
	check_pin_error(context, va, SIZE, ENOMEM, "BAR1");
	fake_fail(FAKE_P2P_CALL_GET_PERSISTENT, 1, EIO);
	check_pin_error(context, va, SIZE, EIO, "Input/output");
	fake_fail(FAKE_P2P_CALL_GET_PERSISTENT, 1, EBUSY);
	check_pin_error(context, va, SIZE, EIO, "busy");
	CHECK_EQ(gdrkit_unpin(pinned(context, va, SIZE)), 0);
	fake_free(va);
	check_pin_error(context, va, SIZE, EINVAL, "not inside one live allocation");
	CHECK_EQ(gdrkit_close(context), 0);
}

static void set_limit(const char *bytes)
{
	FILE *file = fopen("/sys/module/gdrdrv/parameters/pinned_limit_bytes", "w");

	CHECK(file != NULL);
	CHECK(fputs(bytes, file) >= 0);
	CHECK_EQ(fclose(file), 0);
}

TEST(exceeded_process_limit_is_described)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_CONTIGUOUS, 1);
	gdrkit_context_t context = opened();
	gdrkit_pin_t first;

	set_limit("196608");
	first = pinned(context, va, 2 * GPU_PAGE);
	check_pin_error(context, va, 2 * GPU_PAGE, ENOMEM, "limit");
	CHECK_EQ(gdrkit_unpin(first), 0);
	first = pinned(context, va, 3 * GPU_PAGE);
	set_limit("0");
	CHECK_EQ(gdrkit_close(context), 0);
}
