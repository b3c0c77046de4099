// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registered memory is freed after every step and in the middle of each one. A deadlock makes the test exceed its time
// limit.
#include "../support/rdma_core.h"

#define SIZE (7 * FAKE_P2P_PAGE)

static void check_gone(void)
{
	CHECK_EQ(fake_report().pins, 0);
	CHECK_EQ(fake_report().mappings, 0);
	CHECK_EQ(fake_report().used_pages, 0);
	CHECK_EQ(core_report().active, 0);
}

static void free_before(enum fake_core_step_name step, uint64_t va)
{
	uint32_t id = core_registration(va, SIZE, step);

	fake_free(va);
	check_gone();
	CHECK_EQ(core_step(step, id), -EFAULT);
	CHECK(!core_has(id));
	CHECK_EQ(core_report().invalidations, 0);
}

TEST_INVALIDATING(freed_after_acquire) { free_before(FAKE_CORE_GET_PAGES, va); }

TEST_INVALIDATING(freed_after_acquire_and_released)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_GET_PAGES);

	fake_free(va);
	CHECK_EQ(core_step(FAKE_CORE_RELEASE, id), 0);
}

/* The core holds its mapping lock here, so a client that called the invalidation callback now would deadlock. */
TEST_INVALIDATING(freed_after_get_pages) { free_before(FAKE_CORE_DMA_MAP, va); }

TEST_INVALIDATING(freed_after_dma_map)
{
	struct helper helper;
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_ACTIVATE);

	helper_free_paused(&helper, FAKE_CORE_INVALIDATE_ENTER, va);
	fake_resume(FAKE_CORE_INVALIDATE_ENTER);
	/* The adapter gets the addresses and loses them before the memory is released. */
	CHECK_EQ(core_step(FAKE_CORE_ACTIVATE, id), 0);
	helper_join(&helper);
	check_gone();
	check_reaches_nothing(id);
	CHECK_EQ(core_report().stopped_by_invalidation, 1);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
}

TEST_INVALIDATING(freed_while_the_adapter_works)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	fake_free(va);
	check_gone();
	check_reaches_nothing(id);
	CHECK_EQ(core_report().stopped_by_invalidation, 1);
	CHECK_EQ(core_report().unmaps, mode->unmaps ? 0 : 1);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK_EQ(core_report().puts, mode->unmaps ? 0 : 1);
	CHECK_EQ(fake_report().puts, 0);
}

TEST_INVALIDATING(freed_under_two_registrations)
{
	uint32_t first, second;

	first = core_registration(va, SIZE, FAKE_CORE_STOP);
	second = core_registration(va + 70000, 100, FAKE_CORE_STOP);
	fake_free(va);
	check_gone();
	check_reaches_nothing(first);
	check_reaches_nothing(second);
	CHECK_EQ(core_report().stopped_by_invalidation, 2);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, second), 0);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, first), 0);
}

/* The allocator reuses the addresses, which then belong to the second registration only. */
TEST_INVALIDATING(memory_at_the_same_address_can_be_registered_again)
{
	uint64_t again;
	struct place place;
	uint32_t first, second;

	first = core_registration(va, SIZE, FAKE_CORE_STOP);
	fake_free(va);
	again = fake_alloc(SIZE, FAKE_P2P_RUNS);
	place = place_of(again, SIZE);
	second = core_registration(again, SIZE, FAKE_CORE_STOP);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, first), 0);
	check_reaches(second, &place);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, second), 0);
}

/* After the core has stopped the adapter it may wait for the driver in put_pages, so the client must not call it. */
static void free_after(enum fake_core_step_name step, uint64_t va)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	for (int taken = FAKE_CORE_STOP; taken <= (int)step; taken++)
		CHECK_EQ(core_step(taken, id), 0);
	fake_free(va);
	check_gone();
	CHECK_EQ(core_report().invalidations, step == FAKE_CORE_STOP ? 1 : 0);
	CHECK_EQ(core_report().stopped_by_invalidation, 0);
	CHECK_EQ(fake_report().callbacks, step == FAKE_CORE_PUT_PAGES ? 0 : 1);
	for (int taken = step + 1; taken <= FAKE_CORE_RELEASE; taken++)
		CHECK_EQ(core_step(taken, id), 0);
}

TEST_MODES(freed_after_stop, UNMAPPING, UNMAPPING) { free_after(FAKE_CORE_STOP, va); }
TEST_MODES(freed_after_dma_unmap, UNMAPPING, UNMAPPING) { free_after(FAKE_CORE_DMA_UNMAP, va); }
TEST_MODES(freed_after_put_pages, UNMAPPING, UNMAPPING) { free_after(FAKE_CORE_PUT_PAGES, va); }

static void free_in_acquire(enum fake_p2p_step moment, uint64_t va, int expected)
{
	struct helper helper;

	fake_pause(moment);
	helper_acquire(&helper, va, SIZE);
	fake_await(moment);
	fake_free(va);
	fake_resume(moment);
	CHECK_EQ(helper_join(&helper), expected);
	check_gone();
}

/* Before the pin, the memory is not the GPU's; after it, it was revoked. */
TEST_INVALIDATING(freed_as_acquire_begins) { free_in_acquire(FAKE_P2P_GET_ENTER, va, 0); }
TEST_INVALIDATING(freed_as_acquire_ends) { free_in_acquire(FAKE_P2P_GET_LEAVE, va, -EFAULT); }

static void free_in_dma_map(enum fake_p2p_step moment, uint64_t va, int expected)
{
	struct helper helper;
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_DMA_MAP);

	helper_step_paused(&helper, moment, FAKE_CORE_DMA_MAP, id);
	fake_free(va);
	fake_resume(moment);
	CHECK_EQ(helper_join(&helper), expected);
	/* The client must not read the driver's mapping, which was freed with the table. */
	CHECK(!test_log_has("update gdrkit"));
	check_gone();
	CHECK(!core_has(id));
	CHECK_EQ(core_report().invalidations, 0);
}

TEST_INVALIDATING(freed_as_dma_map_begins) { free_in_dma_map(FAKE_P2P_DMA_MAP_ENTER, va, -EINVAL); }
TEST_INVALIDATING(freed_as_dma_map_ends) { free_in_dma_map(FAKE_P2P_DMA_MAP_LEAVE, va, -EFAULT); }

/* The legacy core waits for put_pages while it holds the lock that an invalidation takes. */
TEST_INVALIDATING(freed_during_put_pages)
{
	struct helper helper;
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	helper_step_paused(&helper, FAKE_P2P_PUT_ENTER, FAKE_CORE_DEREGISTER, id);
	fake_free(va);
	fake_resume(FAKE_P2P_PUT_ENTER);
	CHECK_EQ(helper_join(&helper), 0);
	check_gone();
	CHECK_EQ(fake_report().puts_after_callback, 1);
	CHECK_EQ(core_report().invalidations, 0);
}

/* The driver has started to free and holds its locks, but has not called back yet. */
TEST_INVALIDATING(deregistered_while_the_driver_is_about_to_call)
{
	struct helper freeing, ending;
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	helper_free_paused(&freeing, FAKE_P2P_CALLBACK_ENTER, va);
	helper_step_paused(&ending, FAKE_P2P_PUT_ENTER, FAKE_CORE_DEREGISTER, id);
	fake_resume(FAKE_P2P_PUT_ENTER);
	fake_resume(FAKE_P2P_CALLBACK_ENTER);
	helper_join(&freeing);
	CHECK_EQ(helper_join(&ending), 0);
	check_gone();
}

/* The core drops the registration during its invalidation; the client must keep what the callback needs. */
static void deregister_in_invalidation(enum fake_p2p_step moment, uint64_t va)
{
	struct helper helper;
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	helper_free_paused(&helper, moment, va);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	fake_resume(moment);
	helper_join(&helper);
	CHECK_EQ(fake_report().puts, 0);
	check_gone();
}

TEST_INVALIDATING(deregistered_as_an_invalidation_begins) { deregister_in_invalidation(FAKE_CORE_INVALIDATE_ENTER, va); }
TEST_INVALIDATING(deregistered_as_an_invalidation_ends) { deregister_in_invalidation(FAKE_CORE_INVALIDATE_LEAVE, va); }

TEST_INVALIDATING(deregistered_after_the_callback_and_before_the_table_is_freed)
{
	struct helper helper;
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	helper_free_paused(&helper, FAKE_P2P_CALLBACK_LEAVE, va);
	check_reaches_nothing(id);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	fake_resume(FAKE_P2P_CALLBACK_LEAVE);
	helper_join(&helper);
	check_gone();
}
