// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Errors and invalid results of the NVIDIA driver.
#include <signal.h>

#include "../support/gdrdrv.h"

#define SIZE (4 * PAGE)

static enum fake_p2p_call get_call(bool is_persistent)
{
	return is_persistent ? FAKE_P2P_CALL_GET_PERSISTENT : FAKE_P2P_CALL_GET;
}

static enum fake_p2p_call put_call(bool is_persistent)
{
	return is_persistent ? FAKE_P2P_CALL_PUT_PERSISTENT : FAKE_P2P_CALL_PUT;
}

TEST_BOTH(errors_of_the_driver_reach_the_program)
{
	static const int errors[] = { EINVAL, ENOMEM, EIO, EBUSY, ENODEV };
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();

	for (size_t i = 0; i < COUNT(errors); i++) {
		fake_fail(get_call(is_persistent), 1, errors[i]);
		CHECK_ERRNO(try_pin(file, va, SIZE), errors[i]);
		CHECK_EQ(provider_pins(), 0);
		CHECK_EQ(try_pin(file, va, SIZE), 0);
		close(file);
		file = open_node();
	}
}

/* The driver's ENOTSUPP is 524, which user space does not define. */
TEST_REVOCABLE(not_supported_becomes_an_errno_of_user_space)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();

	fake_fail(FAKE_P2P_CALL_GET, 1, 524);
	CHECK_ERRNO(try_pin(file, va, SIZE), EOPNOTSUPP);
}

TEST_PERSISTENT(pins_fall_back_if_the_driver_has_no_persistent_ones)
{
	struct pinned made;

	fake_set(FAKE_P2P_REFUSE_PERSISTENT, 524);
	made = map_new(SIZE);
	CHECK_ERRNO(try_pin_with(made.file, made.va, SIZE, GDRDRV_PIN_FORCE_PCIE), EOPNOTSUPP);
	CHECK_EQ(fake_report().pins, 1);
	CHECK_EQ(fake_report().persistent_pins, 0);
	CHECK_EQ(touch_write(made.bytes), 0);
	fake_free(made.va);
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK(is_revoked(made.file, made.handle));
	CHECK_EQ(unpin(made.file, made.handle), 0);
}

/* Other errors concern this memory; a fallback would hide them. */
TEST_PERSISTENT(pins_do_not_fall_back_for_other_errors)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();

	fake_set(FAKE_P2P_REFUSE_PERSISTENT, ENOMEM);
	CHECK_ERRNO(try_pin(file, va, SIZE), ENOMEM);
	CHECK_EQ(provider_pins(), 0);
}

TEST_PERSISTENT(forcing_pcie_is_rejected_if_the_driver_lacks_it)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();

	fake_set(FAKE_P2P_REFUSE_FORCE_BAR1, 1);
	CHECK_ERRNO(try_pin_with(file, va, SIZE, GDRDRV_PIN_FORCE_PCIE), EINVAL);
	CHECK_EQ(try_pin(file, va, SIZE), 0);
}

static void check_table(enum fake_p2p_knob knob, uint64_t value, int expected)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();

	fake_set(knob, value);
	if (expected)
		CHECK_ERRNO(try_pin(file, va, SIZE), expected);
	else
		CHECK_EQ(unpin(file, pin(file, va, SIZE)), 0);
	CHECK_EQ(provider_pins(), 0);
	fake_reset();
	CHECK_EQ(try_pin(file, va, SIZE), 0);
	close(file);
	fake_free(va);
}

TEST_BOTH(damaged_tables_are_rejected_and_released)
{
	for (int damage = FAKE_P2P_SOUND + 1; damage < FAKE_P2P_DAMAGES; damage++) {
		check_table(FAKE_P2P_DAMAGE, damage, EIO);
		CHECK(test_log_has("gdrdrv: the NVIDIA driver"));
	}
}

TEST_BOTH(table_versions_1_and_2_with_pages_of_64_kib_are_supported)
{
	static const uint32_t good[] = { 0x00010000, 0x00010002, 0x00010003, 0x00020000, 0x00020009 };
	static const uint32_t bad[] = { 0x00030000, 0, 0xffffffff };

	for (size_t i = 0; i < COUNT(good); i++)
		check_table(FAKE_P2P_TABLE_VERSION, good[i], 0);
	for (size_t i = 0; i < COUNT(bad); i++)
		check_table(FAKE_P2P_TABLE_VERSION, bad[i], EFAULT);
	for (unsigned int size = 0; size < 5; size++)
		check_table(FAKE_P2P_PAGE_SIZE, size, size == 1 ? 0 : EINVAL);
}

/* The program loses handle and mapping, but the driver keeps the pin. Returns the open file. */
static int lose(bool is_persistent)
{
	struct pinned made = map_new(SIZE);

	CHECK_EQ(touch(made.bytes), 0);
	fake_fail(put_call(is_persistent), 1, EBUSY);
	CHECK_ERRNO(unpin(made.file, made.handle), EBUSY);
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK_ERRNO(unpin(made.file, made.handle), EINVAL);
	CHECK_EQ(munmap(made.bytes, SIZE), 0);
	CHECK(test_log_has("cannot release"));
	return made.file;
}

/* The failed put has already dropped the driver's reference on the GPU; a second one would drop another pin's. */
TEST_PERSISTENT(persistent_pin_that_the_driver_does_not_release_is_not_put_twice)
{
	int file = lose(true);

	CHECK_EQ(fake_report().refused_pins, 1);
	close(file);
	close(open_node());
	CHECK_EQ(fake_report().puts, 1);
	CHECK_EQ(fake_report().put_twice, 0);
	CHECK_EQ(fake_report().refused_pins, 1);
	/* No callback can follow, so the module can be unloaded. */
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

/* The module retries later. */
TEST_REVOCABLE(revocable_pin_that_the_driver_does_not_release_is_retried)
{
	int file = lose(false);

	CHECK_EQ(provider_pins(), 1);
	fake_fail(FAKE_P2P_CALL_PUT, 1, EBUSY); /* at the close below, which retries */
	close(file);
	CHECK_EQ(provider_pins(), 1);
	CHECK_EQ(module_unload("gdrdrv"), EAGAIN);
	close(open_node());
	CHECK_EQ(provider_pins(), 0);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

TEST_REVOCABLE(callback_of_a_pin_that_was_not_released_ends_it)
{
	struct pinned made = pin_new(SIZE);

	fake_fail(FAKE_P2P_CALL_PUT, 1, EIO);
	CHECK_ERRNO(unpin(made.file, made.handle), EIO);
	fake_fail(FAKE_P2P_CALL_PUT, 1, EIO);
	close(made.file);
	CHECK_EQ(provider_pins(), 1);
	fake_free(made.va);
	CHECK_EQ(provider_pins(), 0);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

TEST_BOTH(close_continues_after_a_pin_that_is_not_released)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();

	for (int i = 0; i < 5; i++)
		pin(file, va, SIZE);
	fake_fail(put_call(is_persistent), 2, EIO);
	close(file);
	/* The end of the close retries a revocable pin. */
	CHECK_EQ(provider_pins(), 0);
	CHECK_EQ(fake_report().refused_pins, is_persistent ? 1 : 0);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}
