// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Freeing pinned memory: the callback at every possible moment.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "client.h"

#define SIZE (5 * PAGE)

struct step_of {
	int file;
	uint64_t va;
	uint64_t handle;
	unsigned char *bytes;
	size_t size; /* to map; 0: all of SIZE */
	int result;
	int error;
};

static void *run_free(void *argument)
{
	fake_free(((struct step_of *)argument)->va);
	return NULL;
}

static void *run_unpin(void *argument)
{
	struct step_of *step = argument;

	step->result = unpin(step->file, step->handle);
	step->error = errno;
	return NULL;
}

static void *run_close(void *argument)
{
	close(((struct step_of *)argument)->file);
	return NULL;
}

static void *run_pin(void *argument)
{
	struct step_of *step = argument;

	step->result = try_pin(step->file, step->va, SIZE);
	step->error = errno;
	return NULL;
}

static void *run_map(void *argument)
{
	struct step_of *step = argument;

	step->bytes = try_map(step->file, step->handle, step->size ? step->size : SIZE);
	return NULL;
}

static pthread_t start(void *(*body)(void *), struct step_of *step)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, body, step), 0);
	return thread;
}

static struct step_of make(bool is_persistent)
{
	struct step_of made = { .va = 0 };

	load_kind(is_persistent);
	made.va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	made.file = open_node();
	made.handle = pin(made.file, made.va, SIZE);
	return made;
}

TEST(persistent_pin_outlives_its_memory)
{
	struct step_of made = make(true);
	uint64_t word = 0x1122334455667788;

	made.bytes = map(made.file, made.handle, SIZE);
	fake_write(made.va + 8, &word, 8);
	fake_free(made.va);
	CHECK(!is_revoked(made.file, made.handle));
	CHECK_EQ(*(volatile uint64_t *)(made.bytes + 8), word);
	CHECK_EQ(touch_write(made.bytes + SIZE - 1), 0);
	CHECK_EQ(fake_report().used_pages, 5);
	CHECK_EQ(unpin(made.file, made.handle), 0);
	CHECK_EQ(fake_report().used_pages, 0);
	CHECK_EQ(touch(made.bytes), SIGBUS);
}

TEST(free_ends_access_through_a_revocable_pin)
{
	struct step_of made = make(false);

	made.bytes = map(made.file, made.handle, SIZE);
	CHECK_EQ(touch_write(made.bytes), 0);
	CHECK_EQ(touch_write(made.bytes + SIZE - 1), 0);
	CHECK(!is_revoked(made.file, made.handle));
	fake_free(made.va);
	for (size_t at = 0; at < SIZE; at += 4096)
		CHECK_EQ(touch(made.bytes + at), SIGBUS);
	CHECK(is_revoked(made.file, made.handle));
	CHECK_EQ(info(made.file, made.handle).mapping_type, GDRDRV_MAPPING_NONE);
	CHECK_EQ(info(made.file, made.handle).mapped_bytes, SIZE);
	CHECK_EQ(fake_report().freed_in_callback, 1);
	CHECK_EQ(fake_report().used_pages, 0);
	CHECK_EQ(munmap(made.bytes, SIZE), 0);
	CHECK_ERRNO((long)try_map(made.file, made.handle, SIZE), EINVAL);
	CHECK_EQ(unpin(made.file, made.handle), 0);
	CHECK_ERRNO(unpin(made.file, made.handle), EINVAL);
}

/* Mapped but never touched: the first fault comes after the free. */
TEST(free_before_the_first_touch_ends_access)
{
	struct step_of made = make(false);

	made.bytes = map(made.file, made.handle, SIZE);
	fake_free(made.va);
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK_EQ(unpin(made.file, made.handle), 0);
}

TEST(free_leaves_other_pins_alone)
{
	struct step_of other = make(false), made;
	uint64_t again = pin(other.file, other.va, PAGE);

	made.va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	made.handle = pin(other.file, made.va, SIZE);
	made.bytes = map(other.file, made.handle, SIZE);
	other.bytes = map(other.file, other.handle, SIZE);
	fake_free(other.va);
	CHECK_EQ(touch(other.bytes), SIGBUS);
	CHECK(is_revoked(other.file, other.handle) && is_revoked(other.file, again));
	CHECK(!is_revoked(other.file, made.handle));
	CHECK_EQ(touch_write(made.bytes), 0);
	fake_free(made.va);
}

TEST(exit_of_the_owner_of_the_memory_revokes)
{
	struct step_of made = make(false);

	made.bytes = map(made.file, made.handle, SIZE);
	CHECK_EQ(touch(made.bytes), 0);
	fake_close();
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK(is_revoked(made.file, made.handle));
}

/* The callback runs after the provider has pinned but before gdrdrv has the table, which must then not be used. */
TEST(free_during_pin_fails_the_pin)
{
	struct step_of made = make(false);
	pthread_t pinning;

	CHECK_EQ(unpin(made.file, made.handle), 0);
	fake_pause(FAKE_P2P_GET_LEAVE);
	pinning = start(run_pin, &made);
	fake_await(FAKE_P2P_GET_LEAVE);
	fake_free(made.va);
	fake_resume(FAKE_P2P_GET_LEAVE);
	pthread_join(pinning, NULL);
	CHECK_EQ(made.result, -1);
	CHECK_EQ(made.error, EINVAL);
	CHECK_EQ(provider_pins(), 0);
	/* Older drivers require that the client frees the table; the client did not have it in the callback. */
	CHECK_EQ(fake_report().freed_after_callback, 1);
}

/* An unpin during a callback waits for its end and returns success. */
static void check_unpin_during(enum fake_p2p_step step)
{
	struct step_of made = make(false);
	pthread_t freeing, unpinning;

	made.bytes = map(made.file, made.handle, SIZE);
	CHECK_EQ(touch(made.bytes), 0);
	fake_pause(step);
	freeing = start(run_free, &made);
	fake_await(step);
	unpinning = start(run_unpin, &made);
	usleep(20000);
	fake_resume(step);
	pthread_join(unpinning, NULL);
	pthread_join(freeing, NULL);
	CHECK_EQ(made.result, 0);
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK_EQ(provider_pins(), 0);
}

TEST(unpin_before_the_callback_of_a_free_works)
{
	check_unpin_during(FAKE_P2P_CALLBACK_ENTER);
}

TEST(unpin_after_the_callback_of_a_free_works)
{
	check_unpin_during(FAKE_P2P_CALLBACK_LEAVE);
}

/* The memory is freed while a put is in progress: the callback runs for a pin that is already dead. */
TEST(free_during_unpin_works)
{
	struct step_of made = make(false);
	pthread_t unpinning;

	made.bytes = map(made.file, made.handle, SIZE);
	CHECK_EQ(touch(made.bytes), 0);
	fake_pause(FAKE_P2P_PUT_ENTER);
	unpinning = start(run_unpin, &made);
	fake_await(FAKE_P2P_PUT_ENTER);
	CHECK_EQ(touch(made.bytes), SIGBUS);
	CHECK_ERRNO(try_info(made.file, made.handle), EINVAL);
	fake_free(made.va);
	fake_resume(FAKE_P2P_PUT_ENTER);
	pthread_join(unpinning, NULL);
	CHECK_EQ(made.result, 0);
	CHECK_EQ(fake_report().callbacks, 1);
}

TEST(close_during_a_callback_waits_for_it)
{
	struct step_of made = make(false);
	pthread_t freeing, closing;

	fake_pause(FAKE_P2P_CALLBACK_ENTER);
	freeing = start(run_free, &made);
	fake_await(FAKE_P2P_CALLBACK_ENTER);
	closing = start(run_close, &made);
	usleep(20000);
	fake_resume(FAKE_P2P_CALLBACK_ENTER);
	pthread_join(closing, NULL);
	pthread_join(freeing, NULL);
	CHECK_EQ(provider_pins(), 0);
}

/* Maps and touches race with frees: no byte of freed memory may be read in any order. */
TEST(racing_maps_and_frees_end_in_sigbus)
{
	load_kind(false);
	for (int i = 0; i < 100; i++) {
		struct step_of made = { .va = fake_alloc(SIZE, i % FAKE_P2P_LAYOUTS), .file = open_node() };
		pthread_t freeing, mapping;

		made.handle = pin(made.file, made.va, SIZE);
		mapping = start(run_map, &made);
		freeing = start(run_free, &made);
		pthread_join(mapping, NULL);
		if (made.bytes != MAP_FAILED)
			touch(made.bytes + i % 5 * PAGE);
		pthread_join(freeing, NULL);
		for (size_t at = 0; made.bytes != MAP_FAILED && at < SIZE; at += 4096)
			CHECK_EQ(touch(made.bytes + at), SIGBUS);
		CHECK(is_revoked(made.file, made.handle));
		if (made.bytes != MAP_FAILED)
			CHECK_EQ(munmap(made.bytes, SIZE), 0);
		close(made.file);
	}
}

/*
 * Persistent pins add their PTEs in mmap. The unpin waits for a long mmap's pin->lock, so its zap may run after the
 * mmap has added the PTEs but before Linux has linked the VMA.
 */
TEST_WITHIN(racing_maps_and_unpins_end_in_sigbus, 60)
{
	const uint64_t size = 256 * PAGE;
	uint64_t va;

	load_kind(true);
	va = fake_alloc(size, FAKE_P2P_RUNS);
	for (int i = 0; i < 60; i++) {
		struct step_of made = { .va = va, .file = open_node(), .size = size };
		pthread_t unpinning, mapping;

		made.handle = pin(made.file, va, size);
		mapping = start(run_map, &made);
		usleep(i * 40);
		unpinning = start(run_unpin, &made);
		pthread_join(unpinning, NULL);
		pthread_join(mapping, NULL);
		CHECK_EQ(made.result, 0);
		for (size_t at = 0; made.bytes != MAP_FAILED && at < size; at += size / 8)
			CHECK_EQ(touch(made.bytes + at), SIGBUS);
		if (made.bytes != MAP_FAILED)
			CHECK_EQ(munmap(made.bytes, size), 0);
		close(made.file);
	}
}
