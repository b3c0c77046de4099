// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pages that the driver still holds although it returned 0, and the end of the client's last callback.
#include "../support/rdma_core.h"

#define SIZE (5 * FAKE_P2P_PAGE)

static void deregister(void *id)
{
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, *(uint32_t *)id), 0);
}

/* Registers memory that another process deregisters. */
static uint64_t make_orphan(void)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	CHECK_EQ(in_child(deregister, &id), 0);
	CHECK_EQ(core_report().registrations, 0);
	CHECK_EQ(module_unload(CLIENT), EWOULDBLOCK);
	return va;
}

TEST_INVALIDATING(pages_that_another_process_deregisters_wait_for_their_callback)
{
	uint64_t orphan = make_orphan();

	CHECK_EQ(fake_report().puts, 0);
	CHECK_EQ(fake_report().pins, 1);
	fake_free(orphan);
	CHECK_EQ(fake_report().callbacks, 1);
	CHECK_EQ(fake_report().pins, 0);
	CHECK_EQ(core_report().invalidations, 0);
}

TEST_INVALIDATING(pages_that_another_process_deregisters_are_released_at_the_next_registration)
{
	uint32_t id;

	make_orphan();
	CHECK_EQ(fake_report().pins, 1);
	make_orphan(); /* its registration releases the first */
	CHECK_EQ(fake_report().pins, 1);
	CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
	CHECK_EQ(fake_report().pins, 0);
	CHECK_EQ(fake_report().callbacks, 0);
}

/* A failed release is retried, once per registration. */
TEST_MODES(pages_that_the_driver_does_not_release_are_retried, UNMAPPING, UNMAPPING)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	fake_fail(FAKE_P2P_CALL_PUT, 1, EIO);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	fake_fail(FAKE_P2P_CALL_PUT, 1, EIO);
	CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
	CHECK_EQ(fake_report().pins, 1);
	CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
	CHECK_EQ(fake_report().pins, 0);
	CHECK_EQ(fake_report().puts, 3);
}

TEST_MODES(persistent_pages_that_the_driver_does_not_release_are_not_put_twice, PERSISTENT, PERSISTENT)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	fake_fail(FAKE_P2P_CALL_PUT_PERSISTENT, 1, EIO);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
	CHECK_EQ(fake_report().refused_pins, 1);
	CHECK_EQ(fake_report().puts, 1);
}

/* See unpin_does_not_release_a_later_pin_with_a_table_at_the_same_address in ../gdrdrv. */
TEST_INVALIDATING(deregistration_does_not_release_later_pages_with_a_table_at_the_same_address)
{
	uint64_t next;
	struct helper ending, beginning;
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	helper_step_paused(&ending, FAKE_P2P_PUT_ENTER, FAKE_CORE_DEREGISTER, id);
	fake_free(va);
	next = fake_alloc(SIZE, FAKE_P2P_RUNS);
	helper_acquire(&beginning, next, SIZE);
	thread_ends_soon(&beginning.thread);
	fake_resume(FAKE_P2P_PUT_ENTER);
	CHECK_EQ(helper_join(&ending), 0);
	CHECK_EQ(helper_join(&beginning), 1);
	CHECK(fake_report().tables_reused >= 1);
	CHECK_EQ(fake_report().pins, 1);
	fake_free(next);
	CHECK_EQ(fake_report().callbacks, 2);
	CHECK_EQ(core_step(FAKE_CORE_RELEASE, beginning.id), 0);
}

static void unload(void *result)
{
	*(int *)result = module_unload(CLIENT);
}

TEST_INVALIDATING(client_does_not_unload_before_its_callback_has_returned)
{
	struct thread unloading;
	struct helper freeing;
	int result = -1;
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_GET_PAGES);

	helper_free_paused(&freeing, FAKE_P2P_CALLBACK_LEAVE, va);
	CHECK_EQ(core_step(FAKE_CORE_RELEASE, id), 0);
	thread_start(&unloading, unload, &result);
	if (thread_ends_soon(&unloading))
		test_fail(__FILE__, __LINE__, "the client was unloaded (%d) during its callback", result);
	fake_resume(FAKE_P2P_CALLBACK_LEAVE);
	helper_join(&freeing);
	thread_join(&unloading);
	CHECK_EQ(result, 0);
}
