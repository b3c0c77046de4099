// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins that the driver still holds although it returned 0: pins of another process, and pins whose table address now
// belongs to another pin. Also the end of the module's last callback.
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

/* Linux releases a closed file asynchronously. */
static void await_callbacks(uint64_t expected)
{
	for (int i = 0; i < 1000 && fake_report().callbacks != expected; i++)
		usleep(1000);
	CHECK_EQ(fake_report().callbacks, expected);
}

/*
 * If another process closes the file last, the pin stays, and the module waits for its callback. A worker of Linux
 * closes the file of a ring later.
 */
static void check_orphan(uint64_t va)
{
	bool is_logged = false;

	for (int i = 0; i < 500 && !is_logged; i++) {
		usleep(10000);
		is_logged = test_log_has("stay pinned until they are freed");
	}
	CHECK_EQ(fake_report().puts, 0);
	CHECK_EQ(provider_pins(), 1);
	CHECK_EQ(module_unload("gdrdrv"), EAGAIN);
	CHECK(is_logged);
	fake_free(va);
	await_callbacks(1);
	CHECK_EQ(provider_pins(), 0);
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
	CHECK_EQ(provider_pins(), 1);
	close(go);
	wait(NULL);
	check_orphan(va);
}

TEST(pin_whose_file_a_child_closes_last_is_released_at_the_next_open)
{
	int go;

	load_kind(false);
	pin_and_fork_a_holder(&go);
	close(go);
	wait(NULL);
	usleep(50000);
	CHECK_EQ(provider_pins(), 1);
	close(open_node());
	CHECK_EQ(provider_pins(), 0);
	CHECK_EQ(fake_report().callbacks, 0);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

/* Linux releases a file that a ring holds in a separate thread. */
TEST(pin_whose_file_a_ring_closes_last_waits_for_its_callback)
{
	struct io_uring_params parameters = {};
	uint64_t va;
	int file, ring;

	load_kind(false);
	ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
	if (ring < 0)
		test_skip("io_uring is not available: %s", strerror(errno));
	va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	file = open_node();
	pin(file, va, SIZE);
	CHECK_EQ(syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &file, 1), 0);
	close(file);
	CHECK_EQ(provider_pins(), 1);
	close(ring);
	check_orphan(va);
}

static void *free_in_thread(void *argument)
{
	fake_free(*(uint64_t *)argument);
	return NULL;
}

/* The callback may end the pin while its process retries the release. */
TEST_WITHIN(orphans_end_exactly_once, 60)
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
		CHECK_EQ(provider_pins(), 0);
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
 * An unpin has read the table's address but has not reached the driver. Then the memory and its table are freed, and a
 * new pin gets a table at the same address. The unpin must not release the new pin, whose mapping would then expose
 * pages of another owner.
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
	/* Makes the test effective: without the module's lock the address is reused at this point. */
	CHECK(fake_report().tables_reused >= 1);
	bytes = map(new.file, new.handle, SIZE);
	CHECK_EQ(touch(bytes), 0);
	fake_free(new.va);
	next = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	fake_write(next, &others, 1);
	if (touch(bytes) == 0)
		test_fail(__FILE__, __LINE__, "read 0x%02x from another owner's memory through a mapping",
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

/* The driver's call into the module has not returned, so module text may still run. */
TEST(module_does_not_unload_before_its_callback_has_returned)
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
		test_fail(__FILE__, __LINE__, "the module was unloaded (%d) during its callback", racer.result);
	fake_resume(FAKE_P2P_CALLBACK_LEAVE);
	pthread_join(freeing, NULL);
	pthread_join(unloading, NULL);
	CHECK_EQ(racer.result, 0);
}
