// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Ends of a pin other than unpin: freed memory, forks, process exit, closed contexts.
#include <gdrapi.h>
#include <signal.h>
#include <sys/wait.h>

#include "context.h"

#define SIZE (3 * GPU_PAGE)

struct mapping {
	gdrkit_context_t context;
	uint64_t va;
	gdrkit_pin_t pin;
	unsigned char *bytes;
};

static struct mapping map_in(gdrkit_context_t context, uint64_t va)
{
	struct mapping mapping = { .context = context, .va = va, .pin = pinned(context, va, SIZE) };

	mapping.bytes = mapped(mapping.pin);
	return mapping;
}

static struct mapping make_mapping(uint64_t va)
{
	return map_in(opened(), va);
}

TEST(memory_freed_under_a_persistent_pin_stays_readable)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping mapping = make_mapping(va);
	unsigned char bytes[100];

	fake_free(va);
	CHECK_EQ(fake_report().used_pages, 3);
	CHECK_EQ(gdrkit_is_invalidated(mapping.pin), 0);
	bytes_check(mapping.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_read(mapping.pin, 0, bytes, sizeof(bytes)), 0);
	bytes_check(bytes, sizeof(bytes), 1);
	/* New allocations must not get these pages. */
	fake_check(fake_alloc_filled(64 * GPU_PAGE, FAKE_P2P_CONTIGUOUS, 9), 64 * GPU_PAGE, 9);
	bytes_check(mapping.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_unmap(mapping.pin), 0);
	CHECK_EQ(gdrkit_unpin(mapping.pin), 0);
	CHECK_EQ(fake_report().used_pages, 64);
	CHECK_EQ(gdrkit_close(mapping.context), 0);
}

/* The module falls back automatically if the provider has no persistent pins. */
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
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_CONTIGUOUS, 1), place = fake_physical(va), next;
	struct mapping mapping = make_revocable(va, refusal);
	void *address = NULL;

	bytes_check(mapping.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_is_invalidated(mapping.pin), 0);
	fake_free(va);
	CHECK_EQ(fake_report().used_pages, 0);
	CHECK_EQ(gdrkit_is_invalidated(mapping.pin), 1);
	next = fake_alloc_filled(SIZE, FAKE_P2P_CONTIGUOUS, 2);
	CHECK_EQ(fake_physical(next), place); /* the same pages, of a new owner */
	check_touches(mapping.bytes, SIZE, SIGBUS);
	CHECK_EQ(gdrkit_unmap(mapping.pin), 0);
	CHECK_EQ(gdrkit_is_invalidated(mapping.pin), 1);
	CHECK_EQ(-gdrkit_map(mapping.pin, NULL, &address), EINVAL);
	CHECK(strstr(gdrkit_last_error(), "the memory was freed") != NULL);
	CHECK_EQ(gdrkit_unpin(mapping.pin), 0);
	CHECK_EQ(gdrkit_close(mapping.context), 0);
	fake_check(next, SIZE, 2);
	fake_free(next);
	fake_set(FAKE_P2P_REFUSE_PERSISTENT, 0);
}

TEST(memory_freed_under_a_revocable_pin_is_unreachable_and_reported)
{
	free_under(EOPNOTSUPP);
	free_under(524); /* the driver's ENOTSUPP, which user space does not define */
}

TEST(end_of_one_mapping_does_not_affect_another)
{
	uint64_t first = fake_alloc_filled(SIZE, FAKE_P2P_RUNS, 1), second = fake_alloc_filled(SIZE, FAKE_P2P_REVERSED, 2);
	struct mapping gone = make_revocable(first, EOPNOTSUPP), kept = map_in(gone.context, second);

	fake_free(first);
	CHECK_EQ(gdrkit_is_invalidated(gone.pin), 1);
	CHECK_EQ(gdrkit_is_invalidated(kept.pin), 0);
	bytes_check(kept.bytes, SIZE, 2);
	CHECK_EQ(gdrkit_unpin(gone.pin), 0);
	bytes_check(kept.bytes, SIZE, 2);
	CHECK_EQ(gdrkit_close(kept.context), 0);
}

TEST(end_of_one_context_does_not_affect_another)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping first = make_mapping(va), second = make_mapping(va);

	CHECK_EQ(-gdrkit_unpin((gdrkit_pin_t){ first.pin.value + 1 }), EINVAL);
	CHECK_EQ(gdrkit_close(first.context), 0);
	CHECK_EQ(touch(first.bytes), SIGSEGV);
	CHECK_EQ(-gdrkit_unpin(first.pin), EINVAL);
	bytes_check(second.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_write(second.pin, 0, "M", 1), 0);
	CHECK_EQ(second.bytes[0], 'M');
	CHECK_EQ(gdrkit_close(second.context), 0);
}

/* The children pin their parent's memory. */
static void use_parents_objects(void *argument)
{
	struct mapping *mapping = argument;
	gdrkit_pin_t pin;
	void *address;
	char byte = 0;

	CHECK_EQ(touch(mapping->bytes), SIGSEGV);
	CHECK_EQ(-gdrkit_pin(mapping->context, mapping->va, 1, &pin), EACCES);
	CHECK_EQ(-gdrkit_map(mapping->pin, NULL, &address), EACCES);
	CHECK_EQ(-gdrkit_is_invalidated(mapping->pin), EACCES);
	CHECK_EQ(-gdrkit_unmap(mapping->pin), EACCES);
	CHECK_EQ(-gdrkit_unpin(mapping->pin), EACCES);
	CHECK_EQ(-gdrkit_write(mapping->pin, 0, &byte, 1), EINVAL);
	CHECK_EQ(-gdrkit_close(mapping->context), EACCES);
}

static void open_own_context(void *argument)
{
	struct mapping *mapping = argument, mine = make_mapping(mapping->va);

	bytes_check(mine.bytes, SIZE, 1);
	CHECK_EQ(gdrkit_unpin(mine.pin), 0);
	CHECK_EQ(gdrkit_close(mine.context), 0);
	CHECK_EQ(touch(mapping->bytes), SIGSEGV);
}

static void exit_without_cleanup(void *mapping)
{
	make_mapping(((struct mapping *)mapping)->va);
}

static void kill_itself(void *mapping)
{
	make_mapping(((struct mapping *)mapping)->va);
	raise(SIGKILL);
}

TEST(forked_children_cannot_use_their_parents_objects)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping mapping = make_mapping(va);
	gdr_mh_t handle;
	gdr_t g = gdr_open();

	fake_set(FAKE_P2P_PIN_FOREIGN_MEMORY, 1);
	CHECK(g != NULL);
	CHECK_EQ(gdr_pin_buffer(g, va, SIZE, 0, 0, &handle), 0);
	CHECK_EQ(in_child(use_parents_objects, &mapping), 0);
	CHECK_EQ(in_child(open_own_context, &mapping), 0);
	bytes_check(mapping.bytes, SIZE, 1);
	CHECK_EQ(gdr_close(g), 0);
	CHECK_EQ(gdrkit_unpin(mapping.pin), 0);
	CHECK_EQ(gdrkit_close(mapping.context), 0);
}

TEST(process_exit_releases_everything)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_RUNS, 1);
	struct mapping mapping = make_mapping(va);

	fake_set(FAKE_P2P_PIN_FOREIGN_MEMORY, 1);
	CHECK_EQ(in_child(exit_without_cleanup, &mapping), 0);
	CHECK_EQ(WTERMSIG(in_child(kill_itself, &mapping)), SIGKILL);
	CHECK_EQ(fake_report().persistent_pins, 1);
	bytes_check(mapping.bytes, SIZE, 1);
	/* This process exits with its own pin in place; the runner checks for leaks. */
}
