// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Threads that register and deregister memory while another frees and allocates it.
#include <stdlib.h>

#include "../support/rdma_core.h"

#define SLOTS 4
#define SIZE (3 * FAKE_P2P_PAGE)
#define REGISTRARS 4

static _Atomic uint64_t slots[SLOTS];
static atomic_bool is_over;
static atomic_ullong registered, refused;

static void register_often(void *argument)
{
	unsigned int random = (unsigned int)(uintptr_t)argument;
	int rounds = (int)((uintptr_t)argument >> 32);

	for (int i = 0; i < rounds; i++) {
		uint64_t va = slots[rand_r(&random) % SLOTS];
		uint32_t id;
		int result = core_register(va + rand_r(&random) % 1000, SIZE - 1000, &id);

		/* 0: freed before; EFAULT and EINVAL: freed in between. */
		CHECK(result == 1 || result == 0 || result == -EFAULT || result == -EINVAL);
		if (result == 1) {
			usleep(rand_r(&random) % 400);
			CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
			registered++;
		} else {
			refused++;
		}
	}
}

static void free_often(void *argument)
{
	unsigned int random = 7;

	(void)argument;
	while (!is_over) {
		int slot = rand_r(&random) % SLOTS;

		fake_free(slots[slot]);
		slots[slot] = fake_alloc(SIZE, FAKE_P2P_RUNS);
	}
}

static void stress(const struct mode *mode, uint64_t rounds)
{
	struct thread registrars[REGISTRARS], freeing;

	client_load(mode);
	for (int i = 0; i < SLOTS; i++)
		slots[i] = fake_alloc(SIZE, FAKE_P2P_RUNS);
	core_report();
	thread_start(&freeing, free_often, NULL);
	for (uint64_t i = 0; i < REGISTRARS; i++)
		thread_start(&registrars[i], register_often, (void *)(uintptr_t)(rounds << 32 | (i + 1)));
	for (int i = 0; i < REGISTRARS; i++)
		thread_join(&registrars[i]);
	is_over = true;
	thread_join(&freeing);
	for (int i = 0; i < SLOTS; i++)
		fake_free(slots[i]);
	CHECK_EQ(fake_report().used_pages, 0);
	test_note("%s: %llu registrations, %llu rejected, %llu stopped by an invalidation", mode->parameters,
		  (unsigned long long)registered, (unsigned long long)refused,
		  (unsigned long long)core_report().stopped_by_invalidation);
	CHECK(registered > 0);
	client_unload();
}

TEST(many_threads_persistent) { stress(PERSISTENT, 150); }
TEST(many_threads_unmapping) { stress(UNMAPPING, 150); }
TEST(many_threads_legacy) { stress(LEGACY, 150); }
TEST_LONG(more_threads_persistent, 240) { stress(PERSISTENT, 5000); }
TEST_LONG(more_threads_unmapping, 240) { stress(UNMAPPING, 5000); }
TEST_LONG(more_threads_legacy, 240) { stress(LEGACY, 5000); }
