// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Mappings that are created or moved while their memory is released.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/fake.h"
#include "../support/test.h"
#include "session.h"

#define ROUNDS 60
#define SIZE (8 * FAKE_P2P_PAGE)

struct race {
	int session;
	uint64_t handle;
	_Atomic(volatile unsigned char *) bytes;
	void *target; /* destination of a move */
	atomic_bool is_over; /* in map_once: start signal */
	atomic_int tries;
};

static uint64_t memory_of(unsigned char content)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);

	for (uint64_t at = 0; at < SIZE; at += FAKE_P2P_PAGE)
		fake_write(va + at, &content, 1);
	return va;
}

static void expect_nothing_at(const volatile unsigned char *bytes, int round)
{
	unsigned char seen = 0;

	for (uint64_t at = 0; at < SIZE; at += FAKE_P2P_PAGE) {
		if (signal_of_load(bytes + at, &seen) == 0)
			test_fail(__FILE__, __LINE__, "round %d: read 0x%02x from another owner's memory", round, seen);
	}
}

static void await_tries(struct race *race, int count)
{
	while (atomic_load(&race->tries) < count)
		usleep(50);
}

/* Linux moves the PTEs before it calls the module, and moves them back after the module rejects. */
static void *move_repeatedly(void *argument)
{
	struct race *race = argument;

	while (!atomic_load(&race->is_over)) {
		CHECK(mremap((void *)atomic_load(&race->bytes), SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, race->target) ==
		      MAP_FAILED);
		atomic_fetch_add(&race->tries, 1);
	}
	return NULL;
}

TEST_WITHIN(memory_freed_while_its_mapping_is_moved_is_unreachable, 120)
{
	struct race race = { .session = session_open() };

	fake_set(FAKE_P2P_REFUSE_PERSISTENT, EOPNOTSUPP);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t va = memory_of(0x11), next;
		volatile unsigned char *bytes;
		pthread_t mover;

		race.handle = session_pin(race.session, va, SIZE);
		bytes = session_map(race.session, race.handle, SIZE);
		CHECK_EQ(bytes[SIZE - FAKE_P2P_PAGE], 0x11);
		atomic_store(&race.bytes, bytes);
		atomic_store(&race.is_over, false);
		atomic_store(&race.tries, 0);
		race.target = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK_EQ(pthread_create(&mover, NULL, move_repeatedly, &race), 0);
		await_tries(&race, 1 + round % 7);
		fake_free(va);
		next = memory_of(0x22);
		expect_nothing_at(bytes, round);
		expect_nothing_at(race.target, round);
		atomic_store(&race.is_over, true);
		pthread_join(mover, NULL);
		expect_nothing_at(bytes, round);
		CHECK_EQ(munmap((void *)bytes, SIZE), 0);
		munmap(race.target, SIZE);
		CHECK_EQ(session_unpin(race.session, race.handle), 0);
		fake_free(next);
	}
	close(race.session);
}

/* Maps the pin, or fails if the handle is already gone. */
static void *map_once(void *argument)
{
	struct race *race = argument;
	void *bytes;

	atomic_store(&race->tries, 1);
	while (!atomic_load(&race->is_over))
		;
	bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, race->session,
		     (off_t)(race->handle * (uint64_t)getpagesize()));
	atomic_store(&race->bytes, bytes == MAP_FAILED ? NULL : bytes);
	return NULL;
}

static void map_during_release(bool is_persistent)
{
	struct race race = { .session = session_open() };
	int mapped = 0;

	fake_set(FAKE_P2P_REFUSE_PERSISTENT, is_persistent ? 0 : EOPNOTSUPP);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t va = memory_of(0x11), next;
		pthread_t mapper;

		race.handle = session_pin(race.session, va, SIZE);
		atomic_store(&race.is_over, false);
		atomic_store(&race.tries, 0);
		CHECK_EQ(pthread_create(&mapper, NULL, map_once, &race), 0);
		await_tries(&race, 1);
		/* Only the persistent pin still holds the freed memory; its unpin releases the pages for reuse. */
		if (is_persistent)
			fake_free(va);
		atomic_store(&race.is_over, true);
		for (volatile int spin = 0; spin < 1500 * round; spin++)
			;
		if (is_persistent)
			CHECK_EQ(session_unpin(race.session, race.handle), 0);
		else
			fake_free(va);
		next = memory_of(0x22);
		pthread_join(mapper, NULL);
		if (atomic_load(&race.bytes)) {
			mapped++;
			expect_nothing_at(atomic_load(&race.bytes), round);
			CHECK_EQ(munmap((void *)atomic_load(&race.bytes), SIZE), 0);
		}
		if (!is_persistent)
			CHECK_EQ(session_unpin(race.session, race.handle), 0);
		fake_free(next);
	}
	test_note("%d of %d mappings succeeded", mapped, ROUNDS);
	close(race.session);
}

TEST_WITHIN(pages_unpinned_while_they_are_mapped_are_unreachable, 60)
{
	map_during_release(true);
}

TEST_WITHIN(memory_freed_while_it_is_mapped_is_unreachable, 60)
{
	map_during_release(false);
}
