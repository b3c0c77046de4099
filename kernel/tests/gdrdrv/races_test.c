// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Attacks of a program that tries to reach memory of a new owner: mappings that are created or moved while their memory
// is released, and unpins that the program delays half-way.
#define _GNU_SOURCE

#include "../support/gdrdrv.h"

#define ROUNDS 60
#define SIZE (8 * PAGE)

static void check_unreachable(const unsigned char *bytes, uint64_t size, int round)
{
	for (uint64_t at = 0; at < size; at += size / 128) {
		if (touch(bytes + at) == 0)
			test_fail(__FILE__, __LINE__, "round %d: read another owner's memory at 0x%llx", round,
				  (unsigned long long)at);
	}
}

struct race {
	struct pinned pinned;
	void *target; /* destination of a move */
	atomic_bool is_over;
	atomic_int tries;
};

static void await_tries(struct race *race, int count)
{
	while (atomic_load(&race->tries) < count)
		usleep(50);
}

/* Linux moves the PTEs before it calls the module, and moves them back after the module rejects. */
static void move_repeatedly(void *argument)
{
	struct race *race = argument;

	while (!atomic_load(&race->is_over)) {
		CHECK(mremap(race->pinned.bytes, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, race->target) == MAP_FAILED);
		atomic_fetch_add(&race->tries, 1);
	}
}

TEST_WITHIN(memory_freed_while_its_mapping_is_moved_is_unreachable, 120)
{
	load_kind(false);
	for (int round = 0; round < ROUNDS; round++) {
		struct race race = { .pinned = map_new(SIZE) };
		struct thread mover;
		uint64_t next;

		CHECK_EQ(touch(race.pinned.bytes + SIZE - PAGE), 0);
		race.target = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		thread_start(&mover, move_repeatedly, &race);
		await_tries(&race, 1 + round % 7);
		fake_free(race.pinned.va);
		next = fake_alloc(SIZE, FAKE_P2P_RUNS); /* the released pages, of a new owner */
		check_unreachable(race.pinned.bytes, SIZE, round);
		check_unreachable(race.target, SIZE, round);
		atomic_store(&race.is_over, true);
		thread_join(&mover);
		check_unreachable(race.pinned.bytes, SIZE, round);
		CHECK_EQ(munmap(race.pinned.bytes, SIZE), 0);
		munmap(race.target, SIZE);
		close(race.pinned.file);
		fake_free(next);
	}
}

/* Maps and touches the pin, or fails if the handle is already gone. */
static void map_once(void *argument)
{
	struct race *race = argument;

	atomic_store(&race->tries, 1);
	race->pinned.bytes = try_map(race->pinned.file, race->pinned.handle, race->pinned.size);
	if (race->pinned.bytes != MAP_FAILED)
		touch(race->pinned.bytes + race->pinned.size / 2);
}

/*
 * Persistent pins add their PTEs in mmap. The unpin waits for a long mmap's pin->lock, so its zap may run after the
 * mmap has added the PTEs but before Linux has linked the VMA.
 */
static void map_during_release(bool is_persistent, uint64_t size)
{
	int mapped = 0;

	load_kind(is_persistent);
	for (int round = 0; round < ROUNDS; round++) {
		struct race race = { .pinned = pin_new(size) };
		struct thread mapper;
		uint64_t next;

		/* Only the persistent pin still holds the freed memory; its unpin releases the pages for reuse. */
		if (is_persistent)
			fake_free(race.pinned.va);
		thread_start(&mapper, map_once, &race);
		while (!atomic_load(&race.tries))
			;
		for (volatile uint64_t spin = 0; spin < size / PAGE * 200 * round; spin++)
			;
		if (is_persistent)
			CHECK_EQ(unpin(race.pinned.file, race.pinned.handle), 0);
		else
			fake_free(race.pinned.va);
		next = fake_alloc(size, FAKE_P2P_RUNS);
		thread_join(&mapper);
		if (race.pinned.bytes != MAP_FAILED) {
			mapped++;
			check_unreachable(race.pinned.bytes, size, round);
			CHECK_EQ(munmap(race.pinned.bytes, size), 0);
		}
		CHECK(is_persistent || is_revoked(race.pinned.file, race.pinned.handle));
		close(race.pinned.file);
		fake_free(next);
	}
	test_note("%d of %d mappings of %llu pages succeeded", mapped, ROUNDS, (unsigned long long)(size / PAGE));
}

TEST_WITHIN(pages_unpinned_while_they_are_mapped_are_unreachable, 120)
{
	map_during_release(true, SIZE);
	map_during_release(true, 256 * PAGE);
}

TEST_WITHIN(memory_freed_while_it_is_mapped_is_unreachable, 60)
{
	map_during_release(false, SIZE);
}

#define BALLAST (192UL << 20)

struct keeper {
	unsigned char *ballast;
	atomic_bool is_over;
};

/*
 * Changing the protection of a large mapping holds mmap_lock for milliseconds; the loop holds it nearly all the time.
 */
static void hold_mmap_lock(void *argument)
{
	struct keeper *keeper = argument;

	while (!atomic_load(&keeper->is_over)) {
		mprotect(keeper->ballast, BALLAST, PROT_READ);
		mprotect(keeper->ballast, BALLAST, PROT_READ | PROT_WRITE);
	}
}

/*
 * An unpin marks its pin dead and then waits for mmap_lock before it zaps the mapping. A callback that runs in between
 * must zap too, because the pages are reused when it returns.
 */
TEST_WITHIN(memory_freed_while_its_unpin_waits_is_unreachable, 120)
{
	struct keeper keeper = { .ballast = mmap(NULL, BALLAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
	struct thread keeping, unpinning;

	load_kind(false);
	CHECK(keeper.ballast != MAP_FAILED);
	madvise(keeper.ballast, BALLAST, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < BALLAST; at += 4096)
		keeper.ballast[at] = 1;
	thread_start(&keeping, hold_mmap_lock, &keeper);
	for (int round = 0; round < 30; round++) {
		struct pinned pinned = map_new(SIZE);
		uint64_t next;

		CHECK_EQ(touch(pinned.bytes), 0);
		thread_start(&unpinning, run_unpin, &pinned);
		usleep(100 + 100 * (round % 10));
		fake_free(pinned.va);
		next = fake_alloc(SIZE, FAKE_P2P_RUNS); /* the released pages, of a new owner */
		check_unreachable(pinned.bytes, SIZE, round);
		thread_join(&unpinning);
		CHECK_EQ(pinned.result, 0);
		CHECK_EQ(munmap(pinned.bytes, SIZE), 0);
		close(pinned.file);
		fake_free(next);
	}
	atomic_store(&keeper.is_over, true);
	thread_join(&keeping);
}
