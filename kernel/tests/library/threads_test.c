// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Many threads and processes at once, and memory that is freed while they use it.
#include <signal.h>
#include <stdlib.h>

#include "context.h"

#define THREADS 8
#define ROUNDS 20
#define SLICE (GPU_PAGE + 4321) /* adjacent slices share a GPU page */

struct worker {
	struct thread thread;
	gdrkit_context_t context;
	uint64_t va;
	unsigned int seed;
};

static void work(void *argument)
{
	struct worker *worker = argument;
	unsigned char *bytes = malloc(SLICE);

	for (int round = 0; round < ROUNDS; round++) {
		gdrkit_pin_t pin = pinned(worker->context, worker->va, SLICE);

		mapped(pin);
		bytes_fill(bytes, SLICE, worker->seed + round);
		CHECK_EQ(gdrkit_write(pin, 0, bytes, SLICE), 0);
		memset(bytes, 0, SLICE);
		CHECK_EQ(gdrkit_read(pin, 0, bytes, SLICE), 0);
		bytes_check(bytes, SLICE, worker->seed + round);
		if (round % 2)
			CHECK_EQ(gdrkit_unmap(pin), 0);
		CHECK_EQ(gdrkit_unpin(pin), 0);
	}
	free(bytes);
}

static void run_threads(uint64_t va, bool is_shared)
{
	struct worker workers[THREADS];
	gdrkit_context_t shared = opened();

	for (unsigned int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .context = is_shared ? shared : opened(), .va = va + i * SLICE, .seed = 50 * i };
		thread_start(&workers[i].thread, work, &workers[i]);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		thread_join(&workers[i].thread);
		fake_check(va + i * SLICE, SLICE, 50 * i + ROUNDS - 1);
		if (!is_shared)
			CHECK_EQ(gdrkit_close(workers[i].context), 0);
	}
	CHECK_EQ(gdrkit_close(shared), 0);
	CHECK_EQ(fake_report().persistent_pins, 0);
}

TEST_WITHIN(eight_threads_of_one_context_copy_correctly, 60)
{
	run_threads(fake_alloc(THREADS * SLICE, FAKE_P2P_RUNS), true);
}

TEST_WITHIN(eight_threads_of_eight_contexts_copy_correctly, 60)
{
	run_threads(fake_alloc(THREADS * SLICE, FAKE_P2P_RUNS), false);
}

static void work_alone(void *va)
{
	struct worker alone = { .va = *(uint64_t *)va + THREADS * SLICE, .seed = 7 };

	fake_set(FAKE_P2P_PIN_FOREIGN_MEMORY, 1); /* the parent checks the data */
	alone.context = opened();
	work(&alone);
	CHECK_EQ(gdrkit_close(alone.context), 0);
}

TEST_WITHIN(two_processes_copy_correctly, 60)
{
	uint64_t va = fake_alloc(2 * THREADS * SLICE, FAKE_P2P_RUNS);
	pid_t child = start_child(work_alone, &va);

	run_threads(va, true);
	CHECK_EQ(wait_for(child), 0);
	fake_check(va + THREADS * SLICE, SLICE, 7 + ROUNDS - 1);
}

/* A thread that reads until the memory is revoked. */
struct reader {
	struct thread thread;
	gdrkit_pin_t pin;
	atomic_int rounds;
	atomic_int signal;
};

static void read_on(void *argument)
{
	struct reader *reader = argument;
	unsigned char *bytes = malloc(2 * GPU_PAGE);

	for (;;) {
		CHECK_EQ(gdrkit_read(reader->pin, 0, bytes, 2 * GPU_PAGE), 0);
		bytes_check(bytes, 2 * GPU_PAGE, 3);
		atomic_fetch_add(&reader->rounds, 1);
	}
}

static void read_until_a_signal(void *argument)
{
	atomic_store(&((struct reader *)argument)->signal, catch_signal(read_on, argument));
}

TEST_WITHIN(copies_read_the_memory_or_raise_sigbus, 60)
{
	gdrkit_context_t context = opened();
	struct reader readers[4];

	fake_set(FAKE_P2P_REFUSE_PERSISTENT, EOPNOTSUPP);
	for (int round = 0; round < 5; round++) {
		uint64_t va = fake_alloc_filled(2 * GPU_PAGE, FAKE_P2P_REVERSED, 3);

		for (int i = 0; i < 4; i++) {
			readers[i] = (struct reader){ .pin = pinned(context, va, 2 * GPU_PAGE) };
			mapped(readers[i].pin);
			thread_start(&readers[i].thread, read_until_a_signal, &readers[i]);
		}
		for (int i = 0; i < 4; i++) {
			while (atomic_load(&readers[i].rounds) < 2)
				usleep(1000);
		}
		fake_free(va);
		/* The pages are reused immediately; no reader may see the new contents. */
		fake_alloc_filled(2 * GPU_PAGE, FAKE_P2P_REVERSED, 4);
		for (int i = 0; i < 4; i++) {
			thread_join(&readers[i].thread);
			CHECK_EQ(atomic_load(&readers[i].signal), SIGBUS);
			CHECK_EQ(gdrkit_is_invalidated(readers[i].pin), 1);
			CHECK_EQ(gdrkit_unpin(readers[i].pin), 0);
		}
	}
	CHECK_EQ(gdrkit_close(context), 0);
}
