// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every request with every field at and beyond its limits: errno, and no leaked pin.
#define _GNU_SOURCE
#include <fcntl.h>

#include "../support/gdrdrv.h"

#define SIZE (3 * PAGE)

static int pin_v1(int file, uint64_t address, uint64_t size, uint64_t token, uint32_t va_space, uint64_t *handle)
{
	struct gdrdrv_pin_request request = {
		.address = address, .size_bytes = size, .p2p_token = token, .va_space = va_space, .handle = ~0ULL
	};
	int result = ioctl(file, GDRDRV_PIN, &request);

	if (handle)
		*handle = request.handle;
	return result;
}

TEST(version_is_2_6_for_libraries_from_2_0)
{
	struct gdrdrv_version_request request = {};
	int file = open_node();

	CHECK_EQ(ioctl(file, GDRDRV_GET_VERSION, &request), 0);
	CHECK_EQ(request.version, 0x00020006);
	CHECK_EQ(request.minimum_api, 0x00020000);
}

TEST(numbers_are_those_that_programs_send)
{
	CHECK_EQ(GDRDRV_PIN, 0xc028da01);
	CHECK_EQ(GDRDRV_UNPIN, 0xc008da02);
	CHECK_EQ(GDRDRV_CALLBACK_FLAG, 0xc008da03);
	CHECK_EQ(GDRDRV_INFO, 0xc008da04);
	CHECK_EQ(GDRDRV_INFO_V2, 0xc008da05);
	CHECK_EQ(GDRDRV_ATTRIBUTE, 0xc008da06);
	CHECK_EQ(GDRDRV_PIN_V2, 0xc020da07);
	CHECK_EQ(GDRDRV_MAPPING_TYPE, 0xc008da08);
	CHECK_EQ(GDRDRV_GET_VERSION, 0xc008daff);
}

/* Every number of our magic byte with wrong sizes, and other magic bytes. */
TEST(unknown_requests_are_rejected)
{
	char scratch[256] = {};
	int file = open_node();

	for (unsigned int number = 0; number < 256; number++) {
		CHECK_ERRNO(ioctl(file, _IOC(_IOC_READ | _IOC_WRITE, 0xDA, number, 13), scratch), ENOTTY);
		CHECK_ERRNO(ioctl(file, _IOC(_IOC_NONE, 0xDA, number, 8), scratch), ENOTTY);
		if (number != 0xDA)
			CHECK_ERRNO(ioctl(file, _IOC(_IOC_READ | _IOC_WRITE, number, 2, 8), scratch), EINVAL);
	}
	CHECK_ERRNO(ioctl(file, _IOC(_IOC_READ | _IOC_WRITE, 0xDA, 9, 8), scratch), ENOTTY);
	CHECK_ERRNO(ioctl(file, 0, scratch), EINVAL);
	CHECK_ERRNO(ioctl(file, 0xffffffff, scratch), EINVAL);
}

TEST(bad_pointers_are_faults)
{
	static const unsigned int numbers[] = { GDRDRV_PIN,	GDRDRV_UNPIN,	  GDRDRV_CALLBACK_FLAG,
						GDRDRV_INFO,	GDRDRV_INFO_V2,	  GDRDRV_ATTRIBUTE,
						GDRDRV_PIN_V2,	GDRDRV_MAPPING_TYPE, GDRDRV_GET_VERSION };
	char *guarded = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *pointers[] = { NULL, (void *)8, (void *)-8L, (void *)0x8000000000000000, guarded + 4096 - 4 };
	int file = open_node();

	CHECK_EQ(munmap(guarded + 4096, 4096), 0);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		for (size_t j = 0; j < COUNT(pointers); j++)
			CHECK_ERRNO(ioctl(file, numbers[i], pointers[j]), EFAULT);
	}
}

/* The pin succeeds but its handle cannot be copied to the user, so the module must undo it. */
TEST_BOTH(pin_is_undone_if_its_result_cannot_be_copied)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	struct gdrdrv_pin_v2_request *request =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file = open_node();

	*request = (struct gdrdrv_pin_v2_request){ .address = va, .size_bytes = SIZE };
	CHECK_EQ(mprotect(request, 4096, PROT_READ), 0);
	CHECK_ERRNO(ioctl(file, GDRDRV_PIN_V2, request), EFAULT);
	CHECK_EQ(provider_pins(), 0);
	CHECK_EQ(fake_report().gets, 1);
	CHECK_ERRNO(ioctl(file, GDRDRV_PIN, request), EFAULT);
	CHECK_EQ(provider_pins(), 0);
}

TEST_BOTH(pin_of_invalid_range_is_rejected)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	const struct {
		uint64_t address, size;
	} bad[] = {
		{ 0, SIZE },	       { 0, 0 },		{ va, 0 },		   { va, SIZE + 1 },
		{ va, ~0ULL },	       { va, 1ULL << 63 },	{ va, 1ULL << 44 },	   { va, (1ULL << 44) + 1 },
		{ va + SIZE, 1 },      { va - 1, 2 },		{ va - PAGE, PAGE },	   { 1, 1 },
		{ ~0ULL, 1 },	       { ~0ULL, ~0ULL },	{ ~0ULL - PAGE, PAGE },	   { ~0ULL - PAGE, PAGE + 1 },
		{ ~0ULL - 1, 1 },      { 1ULL << 63, PAGE },	{ ~0ULL & ~(PAGE - 1), 1 }, { 0x1000, ~0ULL - 0x1000 },
		{ PAGE, ~0ULL - PAGE }, { ~0ULL & ~(PAGE - 1), 0 },
	};
	int file = open_node();

	for (size_t i = 0; i < COUNT(bad); i++) {
		CHECK_ERRNO(try_pin(file, bad[i].address, bad[i].size), EINVAL);
		CHECK_ERRNO(pin_v1(file, bad[i].address, bad[i].size, 0, 0, NULL), EINVAL);
	}
	CHECK_EQ(provider_pins(), 0);
}

TEST_BOTH(pin_rounds_outward_and_reports_the_range)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	const struct {
		uint64_t offset, size, first, bytes;
	} good[] = {
		{ 0, 1, 0, PAGE },	      { 0, SIZE, 0, SIZE },	     { 1, 1, 0, PAGE },
		{ PAGE - 1, 2, 0, 2 * PAGE }, { PAGE, PAGE, PAGE, PAGE },   { 5, 0, 0, PAGE },
		{ 2 * PAGE + 7, PAGE - 7, 2 * PAGE, PAGE },
	};
	int file = open_node();

	for (size_t i = 0; i < COUNT(good); i++) {
		uint64_t handle = pin(file, va + good[i].offset, good[i].size);
		struct gdrdrv_info_v2_request about = info(file, handle);

		CHECK_EQ(about.address, va + good[i].first);
		CHECK_EQ(about.mapped_bytes, good[i].bytes);
		CHECK_EQ(about.page_bytes, 65536);
		CHECK_EQ(about.mapping_type, GDRDRV_MAPPING_NONE);
		CHECK(about.tsc_khz > 0 && about.pin_cycles > 0);
		CHECK_EQ(unpin(file, handle), 0);
	}
}

TEST_BOTH(flags_require_persistent_and_tokens_revocable_pins)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS), handle;
	int file = open_node();

	for (int bit = 1; bit < 32; bit++)
		CHECK_ERRNO(try_pin_with(file, va, SIZE, 1u << bit), EINVAL);
	CHECK_ERRNO(try_pin_with(file, va, SIZE, ~0u), EINVAL);
	if (is_persistent) {
		CHECK_EQ(try_pin_with(file, va, SIZE, GDRDRV_PIN_FORCE_PCIE), 0);
		CHECK_ERRNO(pin_v1(file, va, SIZE, 1, 0, NULL), EINVAL);
		CHECK_ERRNO(pin_v1(file, va, SIZE, 0, 1, NULL), EINVAL);
		CHECK_EQ(provider_pins(), 1);
	} else {
		CHECK_ERRNO(try_pin_with(file, va, SIZE, GDRDRV_PIN_FORCE_PCIE), EINVAL);
		CHECK_EQ(pin_v1(file, va, SIZE, 0x123456789abcdef0, 0xffffffff, &handle), 0);
		CHECK_EQ(unpin(file, handle), 0); /* the fake provider checks that it gets no token */
	}
}

TEST_BOTH(attributes_report_the_kind_of_pins)
{
	struct gdrdrv_attribute_request request = { .attribute = 1, .value = 77 };
	int file = open_node();

	CHECK_EQ(ioctl(file, GDRDRV_ATTRIBUTE, &request), 0);
	CHECK_EQ(request.value, is_persistent);
	request.attribute = 2;
	CHECK_EQ(ioctl(file, GDRDRV_ATTRIBUTE, &request), 0);
	CHECK_EQ(request.value, is_persistent);
	for (int bit = 2; bit < 32; bit++) {
		request.attribute = 1u << bit;
		CHECK_ERRNO(ioctl(file, GDRDRV_ATTRIBUTE, &request), EINVAL);
	}
	request.attribute = 0;
	CHECK_ERRNO(ioctl(file, GDRDRV_ATTRIBUTE, &request), EINVAL);
	request.attribute = 3;
	CHECK_ERRNO(ioctl(file, GDRDRV_ATTRIBUTE, &request), EINVAL);
}

/* None of them may affect the one live pin. */
TEST_BOTH(invalid_handles_are_rejected)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node(), other = open_node();
	uint64_t live = pin(file, va, SIZE);
	const uint64_t bad[] = { live + 1, live + SIZE / 4096, live + SIZE / 4096 - 1, NO_HANDLE, 1ULL << 32,
				 live | 1ULL << 32, live | 1ULL << 63, ~0ULL, 0x7fffffff, 0xffffffff };

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct gdrdrv_callback_flag_request flag = { .handle = bad[i] };
		struct gdrdrv_info_request old = { .handle = bad[i] };

		CHECK_ERRNO(unpin(file, bad[i]), EINVAL);
		CHECK_ERRNO(try_info(file, bad[i]), EINVAL);
		CHECK_ERRNO(ioctl(file, GDRDRV_INFO, &old), EINVAL);
		CHECK_ERRNO(ioctl(file, GDRDRV_CALLBACK_FLAG, &flag), EINVAL);
		CHECK_ERRNO(request_type(file, bad[i], GDRDRV_MAPPING_WC), EINVAL);
		if (bad[i] < 1ULL << 40)
			CHECK_ERRNO((long)try_map(file, bad[i], PAGE), EINVAL);
	}
	CHECK_ERRNO(unpin(other, live), EINVAL);
	CHECK_ERRNO((long)try_map(other, live, PAGE), EINVAL);
	CHECK_EQ(provider_pins(), 1);
	CHECK_EQ(unpin(file, live), 0);
	CHECK_ERRNO(unpin(file, live), EINVAL);
	CHECK_ERRNO(try_info(file, live), EINVAL);
	CHECK_EQ(provider_pins(), 0);
}

TEST_BOTH(mapping_types_that_x86_lacks_are_rejected)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS), handle;
	int file = open_node();
	void *mapped;

	/* A driver's flag for coherent platforms must not make x86 map a BAR cached. */
	fake_set(FAKE_P2P_TABLE_FLAGS, 0xffffffff);
	handle = pin(file, va, SIZE);
	CHECK_EQ(request_type(file, handle, GDRDRV_MAPPING_NONE), 0);
	CHECK_EQ(request_type(file, handle, GDRDRV_MAPPING_WC), 0);
	CHECK_ERRNO(request_type(file, handle, GDRDRV_MAPPING_CACHED), EOPNOTSUPP);
	CHECK_ERRNO(request_type(file, handle, GDRDRV_MAPPING_DEVICE), EOPNOTSUPP);
	for (int bit = 2; bit < 32; bit++)
		CHECK_ERRNO(request_type(file, handle, 1u << bit), EINVAL);
	CHECK_ERRNO(request_type(file, handle, ~0u), EINVAL);
	mapped = map(file, handle, SIZE);
	CHECK_EQ(info(file, handle).mapping_type, GDRDRV_MAPPING_WC);
	CHECK_ERRNO(request_type(file, handle, GDRDRV_MAPPING_WC), EBUSY);
	CHECK_ERRNO(request_type(file, handle, 4), EINVAL);
	CHECK_EQ(munmap(mapped, SIZE), 0);
	CHECK_EQ(info(file, handle).mapping_type, GDRDRV_MAPPING_NONE);
	CHECK_EQ(request_type(file, handle, GDRDRV_MAPPING_WC), 0);
}

TEST(files_have_no_other_operations)
{
	char byte = 0;
	int file = open_node();

	CHECK_ERRNO(read(file, &byte, 1), EINVAL);
	CHECK_ERRNO(write(file, &byte, 1), EINVAL);
	CHECK_ERRNO(fsync(file), EINVAL);
	CHECK_ERRNO(ftruncate(file, 4096), EINVAL);
	CHECK_ERRNO(readahead(file, 0, 4096), EINVAL);
	CHECK_EQ(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
}
