// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What ends a pin beside its unpin: the memory's release, forks, processes that end, contexts that close.
#include <gdrapi.h>
#include <gdrkit/gdrkit.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/test.h"
#include "buffer.h"

#define SIZE (3 * GPU_PAGE)

struct mapping {
	gdrkit_context_t context;
	gdrkit_pin_t pin;
	unsigned char *bytes;
};

static struct mapping map_in(gdrkit_context_t context, uint64_t va)
{
	struct mapping mapping = { .context = context };
	void *address = NULL;

	if (gdrkit_pin(context, va, SIZE, &mapping.pin) || gdrkit_map(mapping.pin, NULL, &address))
		test_fail(__FILE__, __LINE__, "%s", gdrkit_last_error());
	mapping.bytes = address;
	return mapping;
}

static struct mapping make_mapping(uint64_t va)
{
	gdrkit_context_t context;

	if (gdrkit_open(NULL, &context))
		test_fail(__FILE__, __LINE__, "%s", gdrkit_last_error());
	return map_in(context, va);
}

TEST(memory_freed_under_a_persistent_pin_stays_readable)
{
	uint64_t va = buffer_make(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping mapping = make_mapping(va);
	unsigned char bytes[100];

	fake_free(va);
	CHECK_EQ(fake_report().used_pages, 3);
	CHECK_EQ(gdrkit_is_invalidated(mapping.pin), 0);
	bytes_check(mapping.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_read(mapping.pin, 0, bytes, sizeof(bytes)), 0);
	bytes_check(bytes, sizeof(bytes), 1);
	/* Whoever gets memory now does not get these pages. */
	buffer_check(buffer_make(64 * GPU_PAGE, FAKE_P2P_CONTIGUOUS, 9), 64 * GPU_PAGE, 9);
	bytes_check(mapping.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_unmap(mapping.pin), 0);
	CHECK_EQ(gdrkit_unpin(mapping.pin), 0);
	CHECK_EQ(fake_report().used_pages, 64);
	CHECK_EQ(gdrkit_close(mapping.context), 0);
}

/* The module falls back by itself where the provider has no persistent pins. */
static struct mapping make_revocable(uint64_t va, int refusal)
{
	struct mapping mapping;

	fake_set(FAKE_P2P_REFUSE_PERSISTENT, refusal);
	mapping = make_mapping(va);
	CHECK_EQ(fake_report().pins, 1);
	return mapping;
}

static void free_under(int refusal)
{
	uint64_t va = buffer_make(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping mapping = make_revocable(va, refusal);
	void *address = NULL;

	bytes_check(mapping.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_is_invalidated(mapping.pin), 0);
	fake_free(va);
	CHECK_EQ(fake_report().used_pages, 0);
	CHECK_EQ(gdrkit_is_invalidated(mapping.pin), 1);
	for (size_t at = 0; at < SIZE; at += 4096)
		CHECK_EQ(signal_of_load(mapping.bytes + at), SIGBUS);
	CHECK_EQ(gdrkit_unmap(mapping.pin), 0);
	CHECK_EQ(gdrkit_is_invalidated(mapping.pin), 1);
	CHECK_EQ(-gdrkit_map(mapping.pin, NULL, &address), EINVAL);
	CHECK(strstr(gdrkit_last_error(), "freed by its owner") != NULL);
	CHECK_EQ(gdrkit_unpin(mapping.pin), 0);
	CHECK_EQ(gdrkit_close(mapping.context), 0);
	fake_set(FAKE_P2P_REFUSE_PERSISTENT, 0);
}

TEST(memory_freed_under_a_pin_without_persistence_is_gone_and_said_to_be)
{
	free_under(EOPNOTSUPP);
}

/* The number that the driver uses, which programs have no name for. */
TEST(memory_freed_where_the_driver_says_524_is_gone_likewise)
{
	free_under(524);
}

TEST(new_owner_of_freed_pages_is_never_seen)
{
	uint64_t va = buffer_make(SIZE, FAKE_P2P_CONTIGUOUS, 1), next;
	struct mapping mapping = make_revocable(va, EOPNOTSUPP);
	uint64_t place = fake_physical(va);

	bytes_check(mapping.bytes, SIZE, 1);
	fake_free(va);
	next = buffer_make(SIZE, FAKE_P2P_CONTIGUOUS, 2);
	CHECK_EQ(fake_physical(next), place); /* the same pages */
	CHECK_EQ(signal_of_load(mapping.bytes), SIGBUS);
	CHECK_EQ(gdrkit_close(mapping.context), 0);
	buffer_check(next, SIZE, 2);
}

TEST(two_mappings_do_not_share_the_end_of_one)
{
	uint64_t first = buffer_make(SIZE, FAKE_P2P_RUNS, 1), second = buffer_make(SIZE, FAKE_P2P_REVERSED, 2);
	struct mapping gone = make_revocable(first, EOPNOTSUPP), kept = map_in(gone.context, second);

	fake_free(first);
	CHECK_EQ(gdrkit_is_invalidated(gone.pin), 1);
	CHECK_EQ(gdrkit_is_invalidated(kept.pin), 0);
	bytes_check(kept.bytes, SIZE, 2);
	CHECK_EQ(gdrkit_unpin(gone.pin), 0);
	bytes_check(kept.bytes, SIZE, 2);
	CHECK_EQ(gdrkit_close(kept.context), 0);
}

TEST(contexts_do_not_share_the_end_of_one)
{
	uint64_t va = buffer_make(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping first = make_mapping(va), second = make_mapping(va);

	CHECK_EQ(-gdrkit_unpin((gdrkit_pin_t){ first.pin.value + 1 }), EINVAL);
	CHECK_EQ(gdrkit_close(first.context), 0);
	CHECK_EQ(-gdrkit_unpin(first.pin), EINVAL);
	bytes_check(second.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_write(second.pin, 0, "M", 1), 0);
	CHECK_EQ(second.bytes[0], 'M');
	CHECK_EQ(gdrkit_close(second.context), 0);
}

TEST(access_after_close_faults)
{
	uint64_t va = buffer_make(SIZE, FAKE_P2P_CONTIGUOUS, 1);
	struct mapping mapping = make_mapping(va);

	CHECK_EQ(gdrkit_close(mapping.context), 0);
	CHECK_EQ(signal_of_load(mapping.bytes), SIGSEGV);
}

static int in_child(void (*body)(struct mapping *mapping, uint64_t va), struct mapping *mapping, uint64_t va)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		fake_set(FAKE_P2P_PIN_FOREIGN_MEMORY, 1); /* one buffer serves all of these tests */
		body(mapping, va);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

static void use_what_is_the_parents(struct mapping *mapping, uint64_t va)
{
	gdrkit_pin_t pin;
	void *address;
	char byte = 0;

	CHECK_EQ(signal_of_load(mapping->bytes), SIGSEGV);
	CHECK_EQ(-gdrkit_pin(mapping->context, va, 1, &pin), EACCES);
	CHECK_EQ(-gdrkit_map(mapping->pin, NULL, &address), EACCES);
	CHECK_EQ(-gdrkit_is_invalidated(mapping->pin), EACCES);
	CHECK_EQ(-gdrkit_unmap(mapping->pin), EACCES);
	CHECK_EQ(-gdrkit_unpin(mapping->pin), EACCES);
	CHECK_EQ(-gdrkit_write(mapping->pin, 0, &byte, 1), EINVAL);
	CHECK_EQ(-gdrkit_close(mapping->context), EACCES);
}

static void open_its_own(struct mapping *mapping, uint64_t va)
{
	struct mapping mine = make_mapping(va);

	bytes_check(mine.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_unpin(mine.pin), 0);
	CHECK_EQ(gdrkit_close(mine.context), 0);
	CHECK_EQ(signal_of_load(mapping->bytes), SIGSEGV);
}

static void leave_without_a_word(struct mapping *mapping, uint64_t va)
{
	make_mapping(va);
	(void)mapping;
}

static void be_killed(struct mapping *mapping, uint64_t va)
{
	make_mapping(va);
	(void)mapping;
	raise(SIGKILL);
}

TEST(forked_children_have_nothing_of_their_parents)
{
	uint64_t va = buffer_make(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping mapping = make_mapping(va);
	gdr_mh_t handle;
	gdr_t g = gdr_open();

	CHECK(g != NULL);
	CHECK_EQ(gdr_pin_buffer(g, va, SIZE, 0, 0, &handle), 0);
	CHECK_EQ(in_child(use_what_is_the_parents, &mapping, va), 0);
	CHECK_EQ(in_child(open_its_own, &mapping, va), 0);
	bytes_check(mapping.bytes, SIZE, 1);
	CHECK_EQ(gdr_close(g), 0);
	CHECK_EQ(gdrkit_unpin(mapping.pin), 0);
	CHECK_EQ(gdrkit_close(mapping.context), 0);
}

TEST(ends_of_processes_give_all_back)
{
	uint64_t va = buffer_make(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping mapping = make_mapping(va);

	CHECK_EQ(in_child(leave_without_a_word, &mapping, va), 0);
	CHECK_EQ(WTERMSIG(in_child(be_killed, &mapping, va)), SIGKILL);
	CHECK_EQ(fake_report().persistent_pins, 1);
	bytes_check(mapping.bytes, SIZE, 1);
	/* This process ends with its own pin in place: the runner looks for what it leaves. */
}
