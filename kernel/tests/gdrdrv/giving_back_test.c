// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins that the driver still holds although it returned 0: pins of another process, and pins whose table address now
// belongs to another pin. Also the end of the module's last callback.
#include <linux/io_uring.h>
#include <signal.h>
#include <sys/syscall.h>

#include "../support/gdrdrv.h"

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

static void hold_files(void *argument)
{
	(void)argument;
	pause();
}

/* Another process closes the file last. */
static struct pinned make_orphan(void)
{
	struct pinned pinned = pin_new(SIZE);
	pid_t child = start_child(hold_files, NULL);

	close(pinned.file);
	CHECK_EQ(provider_pins(), 1);
	kill(child, SIGKILL);
	wait_for(child);
	return pinned;
}

TEST_REVOCABLE(pin_whose_file_a_child_closes_last_waits_for_its_callback)
{
	check_orphan(make_orphan().va);
}

TEST_REVOCABLE(pin_whose_file_a_child_closes_last_is_released_at_the_next_open)
{
	make_orphan();
	usleep(50000);
	CHECK_EQ(provider_pins(), 1);
	close(open_node());
	CHECK_EQ(provider_pins(), 0);
	CHECK_EQ(fake_report().callbacks, 0);
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

/* Linux releases a file that a ring holds in a separate thread. */
TEST_REVOCABLE(pin_whose_file_a_ring_closes_last_waits_for_its_callback)
{
	struct io_uring_params parameters = {};
	int ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
	struct pinned pinned;

	if (ring < 0)
		test_skip("io_uring is not available: %s", strerror(errno));
	pinned = pin_new(SIZE);
	CHECK_EQ(syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &pinned.file, 1), 0);
	close(pinned.file);
	CHECK_EQ(provider_pins(), 1);
	close(ring);
	check_orphan(pinned.va);
}

/* The callback may end the pin while its process retries the release. */
TEST_WITHIN(orphans_end_exactly_once, 60)
{
	load_kind(false);
	for (int i = 0; i < 60; i++) {
		struct pinned orphan = make_orphan();
		struct thread freeing;

		thread_start(&freeing, free_memory, &orphan);
		for (volatile int spin = 0; spin < 997 * i; spin++)
			;
		close(open_node());
		thread_join(&freeing);
		CHECK_EQ(provider_pins(), 0);
	}
	CHECK_EQ(module_unload("gdrdrv"), 0);
}

/*
 * An unpin has read the table's address but has not reached the driver. Then the memory and its table are freed, and a
 * new pin gets a table at the same address. The unpin must not release the new pin, whose mapping would then expose
 * pages of another owner.
 */
TEST_REVOCABLE(unpin_does_not_release_a_later_pin_with_a_table_at_the_same_address)
{
	struct pinned old = pin_new(SIZE), new = { .file = old.file, .size = SIZE };
	struct thread unpinning, pinning;
	unsigned char *bytes;

	thread_start_paused(&unpinning, FAKE_P2P_PUT_ENTER, run_unpin, &old);
	fake_free(old.va);
	new.va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	thread_start(&pinning, run_pin, &new);
	thread_ends_soon(&pinning);
	fake_resume(FAKE_P2P_PUT_ENTER);
	thread_join(&unpinning);
	thread_join(&pinning);
	CHECK_EQ(old.result, 0);
	/* Makes the test effective: without the module's lock the address is reused at this point. */
	CHECK(fake_report().tables_reused >= 1);
	bytes = map(new.file, new.handle, SIZE);
	CHECK_EQ(touch(bytes), 0);
	fake_free(new.va);
	CHECK_EQ(touch(bytes), SIGBUS); /* the pages may have another owner */
	CHECK_EQ(fake_report().callbacks, 2);
	CHECK_EQ(unpin(new.file, new.handle), 0);
}

static void run_unload(void *result)
{
	*(int *)result = module_unload("gdrdrv");
}

/* The driver's call into the module has not returned, so module text may still run. */
TEST_REVOCABLE(module_does_not_unload_before_its_callback_has_returned)
{
	struct pinned pinned = pin_new(SIZE);
	struct thread freeing, unloading;
	int result = -1;

	thread_start_paused(&freeing, FAKE_P2P_CALLBACK_LEAVE, free_memory, &pinned);
	close(pinned.file);
	thread_start(&unloading, run_unload, &result);
	if (thread_ends_soon(&unloading))
		test_fail(__FILE__, __LINE__, "the module was unloaded (%d) during its callback", result);
	fake_resume(FAKE_P2P_CALLBACK_LEAVE);
	thread_join(&freeing);
	thread_join(&unloading);
	CHECK_EQ(result, 0);
}
