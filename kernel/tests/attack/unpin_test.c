// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Delayed unpins. A program can delay its own unpin by keeping the lock of its address space busy.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/fake.h"
#include "../support/test.h"
#include "session.h"

#define ROUNDS 30
#define BALLAST (192UL << 20)
#define SIZE (4 * FAKE_P2P_PAGE)

static atomic_bool is_over;

/*
 * Changing the protection of a large mapping holds mmap_lock for milliseconds; the loop holds it nearly all the time.
 */
static void *hold_mmap_lock(void *argument)
{
	while (!atomic_load(&is_over)) {
		mprotect(argument, BALLAST, PROT_READ);
		mprotect(argument, BALLAST, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

struct unpinner {
	int session;
	uint64_t handle;
	int go[2];
	int done[2];
};

static void *unpin_on_request(void *argument)
{
	struct unpinner *unpinner = argument;
	char token;

	while (read(unpinner->go[0], &token, 1) == 1 && token == 'u') {
		CHECK_EQ(session_unpin(unpinner->session, unpinner->handle), 0);
		CHECK_EQ(write(unpinner->done[1], "d", 1), 1);
	}
	return NULL;
}

static void one_round(struct unpinner *unpinner, int round)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS), next;
	volatile unsigned char *bytes;
	unsigned char mine = 0x11, others = 0x22, seen = 0;
	char token;

	fake_write(va, &mine, 1);
	unpinner->handle = session_pin(unpinner->session, va, SIZE);
	bytes = session_map(unpinner->session, unpinner->handle, SIZE);
	CHECK_EQ(bytes[0], mine);
	CHECK_EQ(write(unpinner->go[1], "u", 1), 1);
	usleep(100 + 100 * (round % 10));
	fake_free(va);
	/* From here on the pages may be reused. */
	next = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	fake_write(next, &others, 1);
	if (signal_of_load(bytes, &seen) != SIGBUS)
		test_fail(__FILE__, __LINE__, "round %d: read 0x%02x from freed memory through a mapping", round, seen);
	CHECK_EQ(read(unpinner->done[0], &token, 1), 1);
	CHECK_EQ(munmap((void *)bytes, SIZE), 0);
	fake_free(next);
}

/*
 * An unpin marks its pin dead and then waits for mmap_lock before it zaps the mapping. A callback that runs in between
 * must zap too, because the pages are reused when it returns.
 */
TEST_WITHIN(memory_freed_while_its_unpin_waits_is_unreachable, 120)
{
	struct unpinner unpinner = { .session = session_open() };
	unsigned char *ballast = mmap(NULL, BALLAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t keeper, unpinning;

	CHECK(ballast != MAP_FAILED);
	madvise(ballast, BALLAST, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < BALLAST; at += 4096)
		ballast[at] = 1;
	fake_set(FAKE_P2P_REFUSE_PERSISTENT, EOPNOTSUPP);
	CHECK(pipe(unpinner.go) == 0 && pipe(unpinner.done) == 0);
	CHECK_EQ(pthread_create(&unpinning, NULL, unpin_on_request, &unpinner), 0);
	CHECK_EQ(pthread_create(&keeper, NULL, hold_mmap_lock, ballast), 0);
	for (int round = 0; round < ROUNDS; round++)
		one_round(&unpinner, round);
	atomic_store(&is_over, true);
	CHECK_EQ(write(unpinner.go[1], "q", 1), 1);
	pthread_join(keeper, NULL);
	pthread_join(unpinning, NULL);
	close(unpinner.session);
}
