// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Freeing pinned memory: the callback at every possible moment.
#include <signal.h>

#include "../support/gdrdrv.h"

#define SIZE (5 * PAGE)

static void pin_freed_memory(void *argument)
{
	struct pinned *pinned = argument;

	CHECK_ERRNO(try_pin(pinned->file, pinned->va, SIZE), EINVAL);
}

TEST_PERSISTENT(persistent_pin_outlives_its_memory)
{
	struct pinned made = map_new(SIZE);
	uint64_t word = 0x1122334455667788;

	fake_write(made.va + 8, &word, 8);
	fake_free(made.va);
	CHECK(!is_revoked(made.file, made.handle));
	CHECK_EQ(*(volatile uint64_t *)(made.bytes + 8), word);
	CHECK_EQ(touch_write(made.bytes + SIZE - 1), 0);
	CHECK_EQ(fake_report().used_pages, 5);
	CHECK_EQ(unpin(made.file, made.handle), 0);
	CHECK_EQ(fake_report().used_pages, 0);
	CHECK_EQ(touch(made.bytes), SIGBUS);
}

TEST_REVOCABLE(free_ends_access_through_a_revocable_pin)
{
	struct pinned made = map_new(SIZE);

	CHECK_EQ(touch_write(made.bytes), 0);
	CHECK_EQ(touch_write(made.bytes + SIZE - 1), 0);
	CHECK(!is_revoked(made.file, made.handle));
	fake_free(made.va);
	check_touches(made.bytes, SIZE, SIGBUS);
	CHECK(is_revoked(made.file, made.handle));
	CHECK_EQ(info(made.file, made.handle).mapping_type, GDRDRV_MAPPING_NONE);
	CHECK_EQ(info(made.file, made.handle).mapped_bytes, SIZE);
	CHECK_EQ(fake_report().freed_in_callback, 1);
	CHECK_EQ(fake_report().used_pages, 0);
	CHECK_EQ(munmap(made.bytes, SIZE), 0);
	CHECK_ERRNO((long)try_map(made.file, made.handle, SIZE), EINVAL);
	CHECK_EQ(unpin(made.file, made.handle), 0);
	CHECK_ERRNO(unpin(made.file, made.handle), EINVAL);
}

/* Mapped but never touched: the first fault comes after the free. */
TEST_REVOCABLE(free_before_the_first_touch_ends_access)
{
	struct pinned made = map_new(SIZE);

	fake_free(made.va);
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK_EQ(unpin(made.file, made.handle), 0);
}

TEST_REVOCABLE(free_leaves_other_pins_alone)
{
	struct pinned freed = map_new(SIZE);
	uint64_t again = pin(freed.file, freed.va, PAGE);
	uint64_t kept = pin(freed.file, fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS), SIZE);
	unsigned char *bytes = map(freed.file, kept, SIZE);

	fake_free(freed.va);
	CHECK_EQ(touch(freed.bytes), SIGBUS);
	CHECK(is_revoked(freed.file, freed.handle) && is_revoked(freed.file, again));
	CHECK(!is_revoked(freed.file, kept));
	CHECK_EQ(touch_write(bytes), 0);
}

TEST_REVOCABLE(exit_of_the_owner_of_the_memory_revokes)
{
	struct pinned made = map_new(SIZE);

	CHECK_EQ(touch(made.bytes), 0);
	fake_close();
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK(is_revoked(made.file, made.handle));
}

/* The callback runs after the provider has pinned but before gdrdrv has the table, which must then not be used. */
TEST_REVOCABLE(free_during_pin_fails_the_pin)
{
	struct pinned made = pin_new(SIZE);
	struct thread pinning;

	CHECK_EQ(unpin(made.file, made.handle), 0);
	thread_start_paused(&pinning, FAKE_P2P_GET_LEAVE, pin_freed_memory, &made);
	fake_free(made.va);
	fake_resume(FAKE_P2P_GET_LEAVE);
	thread_join(&pinning);
	CHECK_EQ(provider_pins(), 0);
	/* Older drivers require that the client frees the table; the client did not have it in the callback. */
	CHECK_EQ(fake_report().freed_after_callback, 1);
}

/* An unpin during a callback waits for its end and returns success. */
static void check_unpin_during(enum fake_p2p_step step)
{
	struct pinned made = map_new(SIZE);
	struct thread freeing, unpinning;

	CHECK_EQ(touch(made.bytes), 0);
	thread_start_paused(&freeing, step, free_memory, &made);
	thread_start(&unpinning, run_unpin, &made);
	usleep(20000);
	fake_resume(step);
	thread_join(&unpinning);
	thread_join(&freeing);
	CHECK_EQ(made.result, 0);
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK_EQ(provider_pins(), 0);
}

TEST_REVOCABLE(unpin_before_the_callback_of_a_free_works)
{
	check_unpin_during(FAKE_P2P_CALLBACK_ENTER);
}

TEST_REVOCABLE(unpin_after_the_callback_of_a_free_works)
{
	check_unpin_during(FAKE_P2P_CALLBACK_LEAVE);
}

/* The memory is freed while a put is in progress: the callback runs for a pin that is already dead. */
TEST_REVOCABLE(free_during_unpin_works)
{
	struct pinned made = map_new(SIZE);
	struct thread unpinning;

	CHECK_EQ(touch(made.bytes), 0);
	thread_start_paused(&unpinning, FAKE_P2P_PUT_ENTER, run_unpin, &made);
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK_ERRNO(try_info(made.file, made.handle), EINVAL);
	fake_free(made.va);
	fake_resume(FAKE_P2P_PUT_ENTER);
	thread_join(&unpinning);
	CHECK_EQ(made.result, 0);
	CHECK_EQ(fake_report().callbacks, 1);
}

TEST_REVOCABLE(close_during_a_callback_waits_for_it)
{
	struct pinned made = pin_new(SIZE);
	struct thread freeing, closing;

	thread_start_paused(&freeing, FAKE_P2P_CALLBACK_ENTER, free_memory, &made);
	thread_start(&closing, run_close, &made);
	usleep(20000);
	fake_resume(FAKE_P2P_CALLBACK_ENTER);
	thread_join(&closing);
	thread_join(&freeing);
	CHECK_EQ(provider_pins(), 0);
}
