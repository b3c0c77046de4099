// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Only the process that opened a file can use it. However a process ends, nothing leaks.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../support/gdrdrv.h"

#define SIZE (3 * PAGE)

static void await_pins(uint64_t expected)
{
	for (int i = 0; i < 1000 && provider_pins() != expected; i++)
		usleep(1000);
	CHECK_EQ(provider_pins(), expected);
}

static void check_other_process(void *argument)
{
	struct pinned *held = argument;
	struct gdrdrv_version_request version;
	struct gdrdrv_attribute_request attribute = { .attribute = 1 };
	char scratch[64] = {};

	CHECK_ERRNO(ioctl(held->file, GDRDRV_GET_VERSION, &version), EACCES);
	CHECK_ERRNO(ioctl(held->file, GDRDRV_ATTRIBUTE, &attribute), EACCES);
	CHECK_ERRNO(try_pin(held->file, held->va, SIZE), EACCES);
	CHECK_ERRNO(unpin(held->file, held->handle), EACCES);
	CHECK_ERRNO(try_info(held->file, held->handle), EACCES);
	CHECK_ERRNO(request_type(held->file, held->handle, 1), EACCES);
	CHECK_ERRNO(ioctl(held->file, _IO(0xDA, 77), scratch), EACCES);
	CHECK_ERRNO(ioctl(held->file, _IO('x', 2), scratch), EINVAL);
	CHECK_ERRNO((long)try_map(held->file, held->handle, SIZE), EACCES);
}

TEST_BOTH(forked_child_has_neither_file_nor_mapping)
{
	struct pinned held = map_new(SIZE);

	CHECK_EQ(touch_write(held.bytes), 0);
	CHECK_EQ(in_child(check_other_process, &held), 0);
	for (size_t at = 0; at < SIZE; at += PAGE) {
		pid_t child = fork();

		if (child == 0)
			_exit(touch(held.bytes + at));
		CHECK_EQ(WEXITSTATUS(wait_for(child)), SIGSEGV);
	}
	CHECK_EQ(touch_write(held.bytes), 0);
	CHECK_EQ(info(held.file, held.handle).mapping_type, GDRDRV_MAPPING_WC);
	CHECK_EQ(unpin(held.file, held.handle), 0);
}

static void open_and_pin_own(void *argument)
{
	struct pinned *held = argument, own = map_new(SIZE);

	CHECK_EQ(touch(own.bytes), 0);
	CHECK_EQ(unpin(own.file, own.handle), 0);
	close(own.file);
	fake_free(own.va);
	/* The parent still has its mapping and file. */
	close(held->file);
}

TEST_BOTH(child_can_open_and_pin_its_own)
{
	struct pinned held = map_new(SIZE);

	CHECK_EQ(in_child(open_and_pin_own, &held), 0);
	CHECK_EQ(touch_write(held.bytes), 0);
	CHECK_EQ(provider_pins(), 1);
}

/* Takes a file of another process, as if that process had sent it. */
static int take_file(pid_t process, int file)
{
	int taken = (int)syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, process, 0), file, 0);

	CHECK(taken >= 0);
	return taken;
}

/*
 * The child receives the file, cannot use it, and outlives the parent's use of it. Its last close releases a persistent
 * pin. A revocable pin can only be released by the process that pinned it, which does so at its next open.
 */
TEST_BOTH(received_file_is_unusable_and_its_last_close_leaks_no_pin)
{
	struct pinned held;
	int sockets[2];
	char byte = 1;
	pid_t child;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	child = fork(); /* before the file is opened, so that the child does not inherit it */
	if (child == 0) {
		CHECK_EQ(read(sockets[1], &held, sizeof(held)), sizeof(held));
		held.file = take_file(getppid(), held.file);
		check_other_process(&held);
		CHECK_EQ(write(sockets[1], &byte, 1), 1);
		CHECK_EQ(read(sockets[1], &byte, 1), 1);
		check_other_process(&held);
		_exit(0);
	}
	held = map_new(SIZE);
	CHECK_EQ(write(sockets[0], &held, sizeof(held)), sizeof(held));
	CHECK_EQ(read(sockets[0], &byte, 1), 1);
	CHECK_EQ(munmap(held.bytes, SIZE), 0);
	close(held.file);
	usleep(20000);
	CHECK_EQ(provider_pins(), 1); /* the child has the file */
	CHECK_EQ(write(sockets[0], &byte, 1), 1);
	CHECK_EQ(wait_for(child), 0);
	if (!is_persistent) {
		usleep(20000);
		CHECK_EQ(provider_pins(), 1);
		close(open_node());
	}
	await_pins(0);
}

static void exit_without_cleanup(void *argument)
{
	(void)argument;
	map_new(SIZE);
	map_new(SIZE);
}

TEST_BOTH(exit_without_unpin_leaves_nothing)
{
	for (int i = 0; i < 5; i++)
		CHECK_EQ(in_child(exit_without_cleanup, NULL), 0);
	await_pins(0);
}

static void unmap_and_close(void *argument)
{
	struct pinned *held = argument;

	munmap(held->bytes, SIZE);
	close(held->file);
}

/* An exec ends the mappings. The file, if inherited, still belongs to this process. */
static void map_and_exec(void *argument)
{
	struct pinned held = map_new(SIZE);

	(void)argument;
	CHECK_EQ(touch(held.bytes), 0);
	fcntl(held.file, F_SETFD, 0);
	execl("/bin/busybox", "busybox", "true", NULL);
	_exit(1);
}

TEST_BOTH(exec_ends_mappings_and_closes)
{
	CHECK_EQ(in_child(map_and_exec, NULL), 0);
	await_pins(0);
}

/* For a child that is killed while it pins. */
static void do_nothing(void *argument)
{
	(void)argument;
}

/* Makes a mapping and runs `body`. Kills the child at this step of one of them. */
static void kill_in(enum fake_p2p_step step, void (*body)(void *pinned))
{
	pid_t child;

	fake_report(); /* opens the provider's node in this process, so that the child's memory outlives the child */
	fake_pause(step);
	child = fork();
	if (child == 0) {
		struct pinned held = map_new(SIZE);

		touch(held.bytes);
		body(&held);
		pause();
	}
	fake_await(step);
	kill(child, SIGKILL);
	usleep(10000); /* so that the signal is pending when the call resumes */
	fake_resume(step);
	CHECK(WIFSIGNALED(wait_for(child)));
	await_pins(0);
}

TEST_BOTH(killed_while_pinning_leaves_nothing)
{
	kill_in(FAKE_P2P_GET_ENTER, do_nothing);
	kill_in(FAKE_P2P_GET_LEAVE, do_nothing);
}

TEST_BOTH(killed_while_unpinning_leaves_nothing)
{
	kill_in(FAKE_P2P_PUT_ENTER, run_unpin);
	kill_in(FAKE_P2P_PUT_LEAVE, run_unpin);
}

TEST_BOTH(killed_while_closing_leaves_nothing)
{
	kill_in(FAKE_P2P_PUT_ENTER, unmap_and_close);
	kill_in(FAKE_P2P_PUT_LEAVE, unmap_and_close);
}

TEST_REVOCABLE(killed_while_its_memory_is_freed_leaves_nothing)
{
	kill_in(FAKE_P2P_CALLBACK_ENTER, free_memory);
	kill_in(FAKE_P2P_CALLBACK_LEAVE, free_memory);
}

/* Kills the child at arbitrary points of all operations. */
TEST_BOTH(killed_at_any_moment_leaves_nothing)
{
	fake_report();
	for (int i = 0; i < 25; i++) {
		pid_t child = fork();

		if (child == 0) {
			uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);

			for (;;) {
				int file = open_node();
				uint64_t handle = pin(file, va, SIZE);
				unsigned char *bytes = map(file, handle, SIZE);

				touch_write(bytes + PAGE);
				if (i % 2)
					munmap(bytes, SIZE);
				unpin(file, handle);
				close(file);
				munmap(bytes, SIZE);
			}
		}
		usleep(2000 + i * 700);
		kill(child, SIGKILL);
		CHECK(WIFSIGNALED(wait_for(child)));
	}
	await_pins(0);
}
