// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Eight threads and two processes at once, on one file and on several.
#include <signal.h>
#include <stdlib.h>

#include "../support/gdrdrv.h"

#define THREADS 8
#define SIZE (4 * PAGE)

struct worker {
	int file;
	uint64_t va;
	unsigned int seed;
	int rounds;
	/* For workers that race for the same handles. */
	uint64_t *handles;
};

/* Pins, maps, checks data and unpins, in memory that no other worker uses. */
static void live_alone(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; i < worker->rounds; i++) {
		uint64_t handle = pin(worker->file, worker->va, SIZE), word = 0;
		volatile uint64_t *bytes = map(worker->file, handle, SIZE);

		bytes[PAGE / 8 + i % 512] = worker->seed + i;
		__sync_synchronize();
		fake_read(worker->va + PAGE + i % 512 * 8, &word, 8);
		CHECK_EQ(word, worker->seed + i);
		CHECK_EQ(info(worker->file, handle).address, worker->va);
		if (i % 3 == 0)
			CHECK_EQ(munmap((void *)bytes, SIZE), 0);
		CHECK_EQ(unpin(worker->file, handle), 0);
		if (i % 3)
			CHECK_EQ(munmap((void *)bytes, SIZE), 0);
	}
}

static void run_threads(void (*body)(void *), struct worker *workers)
{
	struct thread threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		thread_start(&threads[i], body, &workers[i]);
	for (int i = 0; i < THREADS; i++)
		thread_join(&threads[i]);
}

static void share_one_file(void *argument)
{
	struct worker workers[THREADS];
	int file = open_node();

	for (int i = 0; i < THREADS; i++)
		workers[i] = (struct worker){ .file = file, .va = fake_alloc(SIZE, i % FAKE_P2P_LAYOUTS),
					      .seed = 1000 * i + *(int *)argument, .rounds = 40 };
	run_threads(live_alone, workers);
	CHECK_EQ(close(file), 0);
}

TEST_BOTH(eight_threads_share_one_file)
{
	int seed = 7;

	share_one_file(&seed);
	CHECK_EQ(provider_pins(), 0);
}

TEST_BOTH(two_processes_of_eight_threads_do_not_interfere)
{
	int seeds[] = { 1000000, 2000000 };
	pid_t first = start_child(share_one_file, &seeds[0]), second = start_child(share_one_file, &seeds[1]);

	CHECK_EQ(wait_for(first), 0);
	CHECK_EQ(wait_for(second), 0);
	CHECK_EQ(provider_pins(), 0);
}

#define SHARED_HANDLES 4

/* All threads use the same few handles. Each result must be possible in some order of events. */
static void race(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; i < worker->rounds; i++) {
		uint64_t *slot = &worker->handles[rand_r(&worker->seed) % SHARED_HANDLES];
		uint64_t handle = __atomic_load_n(slot, __ATOMIC_RELAXED);
		void *bytes;

		switch (rand_r(&worker->seed) % 6) {
		case 0:
			if (unpin(worker->file, handle) == 0)
				__atomic_store_n(slot, pin(worker->file, worker->va, SIZE), __ATOMIC_RELAXED);
			else
				CHECK_EQ(errno, EINVAL);
			break;
		case 1:
		case 2:
			bytes = try_map(worker->file, handle, SIZE);
			if (bytes == MAP_FAILED) {
				CHECK_EQ(errno, EINVAL);
				break;
			}
			touch_write(bytes);
			CHECK_EQ(munmap(bytes, SIZE), 0);
			break;
		case 3:
			CHECK(try_info(worker->file, handle) == 0 || errno == EINVAL);
			break;
		case 4:
			CHECK(request_type(worker->file, handle, GDRDRV_MAPPING_WC) == 0 || errno == EINVAL ||
			      errno == EBUSY);
			break;
		default:
			bytes = try_map(worker->file, handle, PAGE);
			if (bytes != MAP_FAILED) {
				touch(bytes);
				/* If another thread unpinned first, its call may not have ended the access yet. */
				if (unpin(worker->file, handle) == 0) {
					CHECK_EQ(touch(bytes), SIGBUS);
					__atomic_store_n(slot, pin(worker->file, worker->va, SIZE), __ATOMIC_RELAXED);
				}
				CHECK_EQ(munmap(bytes, PAGE), 0);
			}
		}
	}
}

static void race_for_handles(int rounds)
{
	struct worker workers[THREADS];
	uint64_t handles[SHARED_HANDLES], va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	int file = open_node();

	for (int i = 0; i < SHARED_HANDLES; i++)
		handles[i] = pin(file, va, SIZE);
	for (int i = 0; i < THREADS; i++)
		workers[i] = (struct worker){ .file = file, .va = va, .seed = i + 1, .rounds = rounds, .handles = handles };
	run_threads(race, workers);
	CHECK_EQ(close(file), 0);
	CHECK_EQ(provider_pins(), 0);
}

TEST_BOTH(eight_threads_race_for_the_same_handles)
{
	race_for_handles(200);
}

/* With few handles, so that each is reused soon. */
static void race_while_handles_wrap(int rounds)
{
	load("handle_limit=1024 use_persistent_mapping=0");
	race_for_handles(rounds);
	load("handle_limit=1024");
	race_for_handles(rounds);
}

TEST(eight_threads_race_while_handles_wrap)
{
	race_while_handles_wrap(200);
}

TEST_LONG(eight_threads_race_for_long, 600)
{
	race_while_handles_wrap(10000);
}
