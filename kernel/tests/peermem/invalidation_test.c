// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registered memory is freed after every step and in the middle of each one. A deadlock makes the test exceed its time
// limit.
#include "../support/test.h"

#include <stdlib.h>

#include "../support/rdma_core.h"

#define SIZE (7 * FAKE_P2P_PAGE)

/* for EACH_MODE(mode): the modes with invalidation. */
#define EACH_MODE(mode) (const struct mode *mode = UNMAPPING; mode <= LEGACY; mode++)

static uint64_t memory(void)
{
	return fake_alloc(SIZE, FAKE_P2P_RUNS);
}

static void check_gone(void)
{
	CHECK_EQ(fake_report().pins, 0);
	CHECK_EQ(fake_report().mappings, 0);
	CHECK_EQ(fake_report().used_pages, 0);
	CHECK_EQ(core_report().active, 0);
}

TEST(freed_after_acquire)
{
	for EACH_MODE(mode) {
		uint64_t va = memory();
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_GET_PAGES);
		fake_free(va);
		check_gone();
		CHECK_EQ(core_step(FAKE_CORE_GET_PAGES, id), -EFAULT);
		CHECK(!core_has(id));
		CHECK_EQ(core_report().invalidations, 0);
		client_unload();
	}
}

TEST(freed_after_acquire_and_released)
{
	for EACH_MODE(mode) {
		uint64_t va = memory();
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_GET_PAGES);
		fake_free(va);
		CHECK_EQ(core_step(FAKE_CORE_RELEASE, id), 0);
		client_unload();
	}
}

/* The core holds its mapping lock here, so a client that called the invalidation callback now would deadlock. */
TEST(freed_after_get_pages)
{
	for EACH_MODE(mode) {
		uint64_t va = memory();
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_DMA_MAP);
		fake_free(va);
		check_gone();
		CHECK_EQ(core_step(FAKE_CORE_DMA_MAP, id), -EFAULT);
		CHECK(!core_has(id));
		CHECK_EQ(core_report().invalidations, 0);
		client_unload();
	}
}

TEST(freed_after_dma_map)
{
	for EACH_MODE(mode) {
		struct helper helper;
		uint64_t va = memory();
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_ACTIVATE);
		core_pause(FAKE_CORE_INVALIDATE_ENTER);
		helper_free(&helper, va);
		core_await(FAKE_CORE_INVALIDATE_ENTER);
		core_resume(FAKE_CORE_INVALIDATE_ENTER);
		/* The adapter gets the addresses and loses them before the memory is released. */
		CHECK_EQ(core_step(FAKE_CORE_ACTIVATE, id), 0);
		helper_join(&helper);
		check_gone();
		check_reaches_nothing(id);
		CHECK_EQ(core_report().stopped_by_invalidation, 1);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
		client_unload();
	}
}

TEST(freed_while_the_adapter_works)
{
	for EACH_MODE(mode) {
		uint64_t va = memory();
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_STOP);
		fake_free(va);
		check_gone();
		check_reaches_nothing(id);
		CHECK_EQ(core_report().stopped_by_invalidation, 1);
		CHECK_EQ(core_report().unmaps, mode->unmaps ? 0 : 1);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
		CHECK_EQ(core_report().puts, mode->unmaps ? 0 : 1);
		CHECK_EQ(fake_report().puts, 0);
		client_unload();
	}
}

TEST(freed_under_two_registrations)
{
	for EACH_MODE(mode) {
		uint64_t va = memory();
		uint32_t first, second;

		client_load(mode);
		first = core_registration(va, SIZE, FAKE_CORE_STOP);
		second = core_registration(va + 70000, 100, FAKE_CORE_STOP);
		fake_free(va);
		check_gone();
		check_reaches_nothing(first);
		check_reaches_nothing(second);
		CHECK_EQ(core_report().stopped_by_invalidation, 2);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, second), 0);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, first), 0);
		client_unload();
	}
}

/* The allocator reuses the addresses, which then belong to the second registration only. */
TEST(memory_at_the_same_address_can_be_registered_again)
{
	for EACH_MODE(mode) {
		uint64_t va = memory(), again;
		struct place place;
		uint32_t first, second;

		client_load(mode);
		first = core_registration(va, SIZE, FAKE_CORE_STOP);
		fake_free(va);
		again = memory();
		place = place_of(again, SIZE);
		second = core_registration(again, SIZE, FAKE_CORE_STOP);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, first), 0);
		check_reaches(second, &place);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, second), 0);
		client_unload();
		fake_free(again);
		free(place.pages);
	}
}

/* After the core has stopped the adapter it may wait for the driver in put_pages, so the client must not call it. */
TEST(freed_after_the_adapter_was_stopped)
{
	for (int step = FAKE_CORE_STOP; step <= FAKE_CORE_PUT_PAGES; step++) {
		uint64_t va = memory();
		uint32_t id;

		client_load(UNMAPPING);
		id = core_registration(va, SIZE, FAKE_CORE_STOP);
		for (int taken = FAKE_CORE_STOP; taken <= step; taken++)
			CHECK_EQ(core_step(taken, id), 0);
		fake_free(va);
		check_gone();
		CHECK_EQ(core_report().invalidations, step == FAKE_CORE_STOP ? 1 : 0);
		CHECK_EQ(core_report().stopped_by_invalidation, 0);
		CHECK_EQ(fake_report().callbacks, step == FAKE_CORE_PUT_PAGES ? 0 : 1);
		for (int taken = step + 1; taken <= FAKE_CORE_RELEASE; taken++)
			CHECK_EQ(core_step(taken, id), 0);
		client_unload();
	}
}

TEST(freed_during_acquire)
{
	static const enum fake_p2p_step moments[] = { FAKE_P2P_GET_ENTER, FAKE_P2P_GET_LEAVE };

	for EACH_MODE(mode) {
		for (int i = 0; i < 2; i++) {
			struct helper helper;
			uint64_t va = memory();

			client_load(mode);
			fake_pause(moments[i]);
			helper_acquire(&helper, va, SIZE);
			fake_await(moments[i]);
			fake_free(va);
			fake_resume(moments[i]);
			/* Before the pin, the memory is not the GPU's; after it, it was revoked. */
			CHECK_EQ(helper_join(&helper), moments[i] == FAKE_P2P_GET_ENTER ? 0 : -EFAULT);
			check_gone();
			client_unload();
		}
	}
}

TEST(freed_during_dma_map)
{
	static const enum fake_p2p_step moments[] = { FAKE_P2P_DMA_MAP_ENTER, FAKE_P2P_DMA_MAP_LEAVE };

	for EACH_MODE(mode) {
		for (int i = 0; i < 2; i++) {
			struct helper helper;
			uint64_t va = memory();
			uint32_t id;

			client_load(mode);
			id = core_registration(va, SIZE, FAKE_CORE_DMA_MAP);
			fake_pause(moments[i]);
			helper_step(&helper, FAKE_CORE_DMA_MAP, id);
			fake_await(moments[i]);
			fake_free(va);
			fake_resume(moments[i]);
			/* The client must not read the driver's mapping, which was freed with the table. */
			CHECK_EQ((unsigned int)helper_join(&helper),
				 (unsigned int)(moments[i] == FAKE_P2P_DMA_MAP_ENTER ? -EINVAL : -EFAULT));
			CHECK(!test_log_has("update gdrkit"));
			check_gone();
			CHECK(!core_has(id));
			CHECK_EQ(core_report().invalidations, 0);
			client_unload();
		}
	}
}

/* The legacy core waits for put_pages while it holds the lock that an invalidation takes. */
TEST(freed_during_put_pages)
{
	for EACH_MODE(mode) {
		struct helper helper;
		uint64_t va = memory();
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_STOP);
		fake_pause(FAKE_P2P_PUT_ENTER);
		helper_step(&helper, FAKE_CORE_DEREGISTER, id);
		fake_await(FAKE_P2P_PUT_ENTER);
		fake_free(va);
		fake_resume(FAKE_P2P_PUT_ENTER);
		CHECK_EQ(helper_join(&helper), 0);
		check_gone();
		CHECK_EQ(fake_report().puts_after_callback, 1);
		CHECK_EQ(core_report().invalidations, 0);
		client_unload();
	}
}

/* The driver has started to free and holds its locks, but has not called back yet. */
TEST(deregistered_while_the_driver_is_about_to_call)
{
	for EACH_MODE(mode) {
		struct helper freeing, ending;
		uint64_t va = memory();
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_STOP);
		fake_pause(FAKE_P2P_CALLBACK_ENTER);
		helper_free(&freeing, va);
		fake_await(FAKE_P2P_CALLBACK_ENTER);
		fake_pause(FAKE_P2P_PUT_ENTER);
		helper_step(&ending, FAKE_CORE_DEREGISTER, id);
		fake_await(FAKE_P2P_PUT_ENTER);
		fake_resume(FAKE_P2P_PUT_ENTER);
		fake_resume(FAKE_P2P_CALLBACK_ENTER);
		helper_join(&freeing);
		CHECK_EQ(helper_join(&ending), 0);
		check_gone();
		client_unload();
	}
}

/* The core drops the registration during its invalidation; the client must keep what the callback needs. */
TEST(deregistered_during_an_invalidation)
{
	for EACH_MODE(mode) {
		for (int moment = 0; moment < FAKE_CORE_MOMENTS; moment++) {
			struct helper helper;
			uint64_t va = memory();
			uint32_t id;

			client_load(mode);
			id = core_registration(va, SIZE, FAKE_CORE_STOP);
			core_pause(moment);
			helper_free(&helper, va);
			core_await(moment);
			CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
			core_resume(moment);
			helper_join(&helper);
			CHECK_EQ(fake_report().puts, 0);
			check_gone();
			client_unload();
		}
	}
}

TEST(deregistered_after_the_callback_and_before_the_table_is_freed)
{
	for EACH_MODE(mode) {
		struct helper helper;
		uint64_t va = memory();
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_STOP);
		fake_pause(FAKE_P2P_CALLBACK_LEAVE);
		helper_free(&helper, va);
		fake_await(FAKE_P2P_CALLBACK_LEAVE);
		check_reaches_nothing(id);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
		fake_resume(FAKE_P2P_CALLBACK_LEAVE);
		helper_join(&helper);
		check_gone();
		client_unload();
	}
}
