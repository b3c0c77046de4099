// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pages that the driver still holds although it returned 0, and the end of the client's last callback.
#include "../support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/module.h"
#include "../support/rdma_core.h"

#define SIZE (5 * FAKE_P2P_PAGE)

#define EACH_MODE(mode) (const struct mode *mode = UNMAPPING; mode <= LEGACY; mode++)

/* Registers memory that another process deregisters. */
static uint64_t make_orphan(void)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);
	pid_t child = fork();
	int status;

	if (child == 0) {
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(core_report().registrations, 0);
	CHECK_EQ(module_unload(CLIENT), EWOULDBLOCK);
	return va;
}

TEST(pages_that_another_process_deregisters_wait_for_their_callback)
{
	for EACH_MODE(mode) {
		uint64_t va;

		client_load(mode);
		va = make_orphan();
		CHECK_EQ(fake_report().puts, 0);
		CHECK_EQ(fake_report().pins, 1);
		fake_free(va);
		CHECK_EQ(fake_report().callbacks, 1);
		CHECK_EQ(fake_report().pins, 0);
		CHECK_EQ(core_report().invalidations, 0);
		client_unload();
	}
}

TEST(pages_that_another_process_deregisters_are_released_at_the_next_registration)
{
	for EACH_MODE(mode) {
		uint32_t id;
		uint64_t first, second;

		client_load(mode);
		first = make_orphan();
		CHECK_EQ(fake_report().pins, 1);
		second = make_orphan(); /* its registration releases the first */
		CHECK_EQ(fake_report().pins, 1);
		CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
		CHECK_EQ(fake_report().pins, 0);
		CHECK_EQ(fake_report().callbacks, 0);
		client_unload();
		fake_free(first);
		fake_free(second);
	}
}

/* A failed release is retried, once per registration. */
TEST(pages_that_the_driver_does_not_release_are_retried)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	uint32_t id;

	client_load(UNMAPPING);
	id = core_registration(va, SIZE, FAKE_CORE_STOP);
	fake_fail(FAKE_P2P_CALL_PUT, 1, EIO);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	fake_fail(FAKE_P2P_CALL_PUT, 1, EIO);
	CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
	CHECK_EQ(fake_report().pins, 1);
	CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
	CHECK_EQ(fake_report().pins, 0);
	CHECK_EQ(fake_report().puts, 3);
	client_unload();
	fake_free(va);
}

TEST(persistent_pages_that_the_driver_does_not_release_are_not_put_twice)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	uint32_t id;

	client_load(PERSISTENT);
	id = core_registration(va, SIZE, FAKE_CORE_STOP);
	fake_fail(FAKE_P2P_CALL_PUT_PERSISTENT, 1, EIO);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
	CHECK_EQ(fake_report().refused_pins, 1);
	CHECK_EQ(fake_report().puts, 1);
	client_unload();
	fake_free(va);
}

/* See unpin_does_not_release_a_later_pin_with_a_table_at_the_same_address in ../gdrdrv. */
TEST(deregistration_does_not_release_later_pages_with_a_table_at_the_same_address)
{
	for EACH_MODE(mode) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS), next;
		struct helper ending, beginning;
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_STOP);
		fake_pause(FAKE_P2P_PUT_ENTER);
		helper_step(&ending, FAKE_CORE_DEREGISTER, id);
		fake_await(FAKE_P2P_PUT_ENTER);
		fake_free(va);
		next = fake_alloc(SIZE, FAKE_P2P_RUNS);
		helper_acquire(&beginning, next, SIZE);
		usleep(200000);
		fake_resume(FAKE_P2P_PUT_ENTER);
		CHECK_EQ(helper_join(&ending), 0);
		CHECK_EQ(helper_join(&beginning), 1);
		CHECK(fake_report().tables_reused >= 1);
		CHECK_EQ(fake_report().pins, 1);
		fake_free(next);
		CHECK_EQ(fake_report().callbacks, 2);
		CHECK_EQ(core_step(FAKE_CORE_RELEASE, beginning.id), 0);
		client_unload();
	}
}

struct unloading {
	pthread_t thread;
	int result;
	atomic_bool is_done;
};

static void *unload(void *argument)
{
	struct unloading *unloading = argument;

	unloading->result = module_unload(CLIENT);
	atomic_store(&unloading->is_done, true);
	return NULL;
}

TEST(client_does_not_unload_before_its_callback_has_returned)
{
	for EACH_MODE(mode) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
		struct unloading unloading = {};
		struct helper freeing;
		uint32_t id;

		client_load(mode);
		id = core_registration(va, SIZE, FAKE_CORE_GET_PAGES);
		fake_pause(FAKE_P2P_CALLBACK_LEAVE);
		helper_free(&freeing, va);
		fake_await(FAKE_P2P_CALLBACK_LEAVE);
		CHECK_EQ(core_step(FAKE_CORE_RELEASE, id), 0);
		CHECK_EQ(pthread_create(&unloading.thread, NULL, unload, &unloading), 0);
		for (int i = 0; i < 200 && !atomic_load(&unloading.is_done); i++)
			usleep(1000);
		if (atomic_load(&unloading.is_done))
			test_fail(__FILE__, __LINE__, "the client was unloaded (%d) during its callback",
				  unloading.result);
		fake_resume(FAKE_P2P_CALLBACK_LEAVE);
		helper_join(&freeing);
		pthread_join(unloading.thread, NULL);
		CHECK_EQ(unloading.result, 0);
	}
}
