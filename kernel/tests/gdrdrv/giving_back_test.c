// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins that the driver still has after it returned 0: those of another process, and those whose table's address is now
// another pin's. And the end of the module's last callback.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "client.h"

#define SIZE (3 * PAGE)

/* Linux releases a closed file shortly after the call. */
static void await_callbacks(uint64_t wanted)
{
	for (int i = 0; i < 1000 && fake_report().callbacks != wanted; i++)
		usleep(1000);
	CHECK_EQ(fake_report().callbacks, wanted);
}

/*
 * A file that another process closed last is still pinned, and the module waits for its callback. A ring closes its
 * file when a worker of Linux runs.
 */
static void check_left_behind(uint64_t va)
{
	bool is_noted = false;

	for (int i = 0; i < 500 && !is_noted; i++) {
		usleep(10000);
		is_noted = test_log_has("stay pinned until they are freed");
	}
	CHECK_EQ(fake_report().puts, 0);
	CHECK_EQ(pins_out(), 1);
	CHECK_EQ(module_unload("gdrdrv"), EAGAIN);
	CHECK(is_noted);
	fake_free(va);
	await_callbacks(1);
	CHECK_EQ(pins_out(), 0);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

static uint64_t pin_and_fork_a_holder(int *go)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	int file = open_node();
	int pipes[2];

	pin(file, va, SIZE);
	CHECK_EQ(pipe(pipes), 0);
	if (fork() == 0) {
		char byte;

		close(pipes[1]);
		CHECK_EQ(read(pipes[0], &byte, 1), 0);
		_exit(0);
	}
	close(pipes[0]);
	close(file);
	*go = pipes[1];
	return va;
}

TEST(pin_whose_file_a_child_closes_last_waits_for_its_callback)
{
	uint64_t va;
	int go;

	load_kind(false);
	va = pin_and_fork_a_holder(&go);
	CHECK_EQ(pins_out(), 1);
	close(go);
	wait(NULL);
	check_left_behind(va);
}

TEST(pin_whose_file_a_child_closes_last_goes_when_its_process_comes_by)
{
	int go;

	load_kind(false);
	pin_and_fork_a_holder(&go);
	close(go);
	wait(NULL);
	usleep(50000);
	CHECK_EQ(pins_out(), 1);
	close(open_node());
	CHECK_EQ(pins_out(), 0);
	CHECK_EQ(fake_report().callbacks, 0);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

/* Linux releases a file of a ring in a separate thread. */
TEST(pin_whose_file_a_ring_closes_last_waits_for_its_callback)
{
	struct io_uring_params parameters = {};
	uint64_t va;
	int file, ring;

	load_kind(false);
	ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
	if (ring < 0)
		test_skip("no io_uring: %s", strerror(errno));
	va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	file = open_node();
	pin(file, va, SIZE);
	CHECK_EQ(syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &file, 1), 0);
	close(file);
	CHECK_EQ(pins_out(), 1);
	close(ring);
	check_left_behind(va);
}

static void *free_in_thread(void *argument)
{
	fake_free(*(uint64_t *)argument);
	return NULL;
}

/* The callback may end the pin while its process tries to release it. */
TEST_WITHIN(left_pins_end_once_whoever_comes_first, 60)
{
	load_kind(false);
	for (int i = 0; i < 60; i++) {
		pthread_t freeing;
		uint64_t va;
		int go;

		va = pin_and_fork_a_holder(&go);
		close(go);
		wait(NULL);
		CHECK_EQ(pthread_create(&freeing, NULL, free_in_thread, &va), 0);
		for (volatile int spin = 0; spin < 997 * i; spin++)
			;
		close(open_node());
		pthread_join(freeing, NULL);
		CHECK_EQ(pins_out(), 0);
	}
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

struct racer {
	int file;
	uint64_t va;
	uint64_t handle;
	int result;
	atomic_bool is_done;
};

static void *unpin_in_thread(void *argument)
{
	struct racer *racer = argument;

	racer->result = unpin(racer->file, racer->handle);
	return NULL;
}

static void *pin_in_thread(void *argument)
{
	struct racer *racer = argument;

	racer->handle = pin(racer->file, racer->va, SIZE);
	atomic_store(&racer->is_done, true);
	return NULL;
}

/*
 * An unpin has passed the table's address to the driver, which has not used it yet. The memory is freed, and its table
 * with it. New memory is pinned and gets a table at the same address. The unpin must not release the new pin: its pages
 * would be reused under a mapping that stays.
 */
TEST(unpin_does_not_release_a_later_pin_with_a_table_at_the_same_address)
{
	struct racer old = {}, new = {};
	unsigned char others = 0x22, *bytes;
	pthread_t unpinning, pinning;
	uint64_t next;

	load_kind(false);
	old = (struct racer){ .file = open_node(), .va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS) };
	old.handle = pin(old.file, old.va, SIZE);
	fake_pause(FAKE_P2P_PUT_ENTER);
	CHECK_EQ(pthread_create(&unpinning, NULL, unpin_in_thread, &old), 0);
	fake_await(FAKE_P2P_PUT_ENTER);
	fake_free(old.va);
	new.file = old.file;
	new.va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	CHECK_EQ(pthread_create(&pinning, NULL, pin_in_thread, &new), 0);
	for (int i = 0; i < 300 && !atomic_load(&new.is_done); i++)
		usleep(1000);
	fake_resume(FAKE_P2P_PUT_ENTER);
	pthread_join(unpinning, NULL);
	pthread_join(pinning, NULL);
	CHECK_EQ(old.result, 0);
	/* Proves that the test is effective: without the module's order the addresses are equal here. */
	CHECK(fake_report().tables_reused >= 1);
	bytes = map(new.file, new.handle, SIZE);
	CHECK_EQ(touch(bytes), 0);
	fake_free(new.va);
	next = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	fake_write(next, &others, 1);
	if (touch(bytes) == 0)
		test_fail(__FILE__, __LINE__, "memory of another owner showed 0x%02x through a mapping",
			  *(volatile unsigned char *)bytes);
	CHECK_EQ(fake_report().callbacks, 2);
	CHECK_EQ(unpin(new.file, new.handle), 0);
}

static void *unload_in_thread(void *argument)
{
	struct racer *racer = argument;

	racer->result = module_unload("gdrdrv");
	atomic_store(&racer->is_done, true);
	return NULL;
}

/* The driver's call into the module has not returned: some instructions of the module may still run. */
TEST(module_does_not_go_before_its_callback_has_returned)
{
	struct racer racer = {};
	pthread_t freeing, unloading;
	uint64_t va;
	int file;

	load_kind(false);
	va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	file = open_node();
	pin(file, va, SIZE);
	fake_pause(FAKE_P2P_CALLBACK_LEAVE);
	CHECK_EQ(pthread_create(&freeing, NULL, free_in_thread, &va), 0);
	fake_await(FAKE_P2P_CALLBACK_LEAVE);
	close(file);
	CHECK_EQ(pthread_create(&unloading, NULL, unload_in_thread, &racer), 0);
	for (int i = 0; i < 300 && !atomic_load(&racer.is_done); i++)
		usleep(1000);
	if (atomic_load(&racer.is_done))
		test_fail(__FILE__, __LINE__, "the module was unloaded (%d) inside its callback", racer.result);
	fake_resume(FAKE_P2P_CALLBACK_LEAVE);
	pthread_join(freeing, NULL);
	pthread_join(unloading, NULL);
	CHECK_EQ(racer.result, 0);
}
