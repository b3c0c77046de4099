// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What tests of all groups do: accesses that raise signals, threads, and child processes.
#include "test.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

static __thread sigjmp_buf back;
static __thread volatile bool is_expected;

static void jump_back(int number)
{
	if (is_expected)
		siglongjmp(back, number);
	signal(number, SIG_DFL);
}

int catch_signal(void (*body)(void *argument), void *argument)
{
	struct sigaction action = { .sa_handler = jump_back, .sa_flags = SA_NODEFER };
	int number = sigsetjmp(back, 1);

	if (!number) {
		sigaction(SIGBUS, &action, NULL);
		sigaction(SIGSEGV, &action, NULL);
		is_expected = true;
		body(argument);
	}
	is_expected = false;
	return number;
}

struct access {
	volatile unsigned char *byte;
	unsigned char value;
};

static void load_byte(void *argument)
{
	struct access *access = argument;

	access->value = *access->byte;
}

static void store_byte(void *argument)
{
	struct access *access = argument;

	*access->byte = access->value;
}

int touch_read(const volatile void *byte, unsigned char *seen)
{
	struct access access = { .byte = (volatile void *)byte };
	int number = catch_signal(load_byte, &access);

	*seen = access.value;
	return number;
}

int touch(const volatile void *byte)
{
	unsigned char seen;

	return touch_read(byte, &seen);
}

int touch_write(volatile void *byte)
{
	struct access access = { byte, 0x5a };

	return catch_signal(store_byte, &access);
}

void check_touches(volatile unsigned char *bytes, size_t size, int expected)
{
	for (size_t at = 0; at < size; at += 4096)
		CHECK_EQ(touch_write(bytes + at), expected);
}

static void *run_thread(void *argument)
{
	struct thread *thread = argument;

	thread->body(thread->argument);
	atomic_store(&thread->is_done, true);
	return NULL;
}

void thread_start(struct thread *thread, void (*body)(void *argument), void *argument)
{
	thread->body = body;
	thread->argument = argument;
	atomic_store(&thread->is_done, false);
	CHECK_EQ(pthread_create(&thread->id, NULL, run_thread, thread), 0);
}

bool thread_ends_soon(struct thread *thread)
{
	for (int i = 0; i < 300 && !atomic_load(&thread->is_done); i++)
		usleep(1000);
	return atomic_load(&thread->is_done);
}

void thread_join(struct thread *thread)
{
	CHECK_EQ(pthread_join(thread->id, NULL), 0);
}

pid_t start_child(void (*body)(void *), void *argument)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		body(argument);
		_exit(0);
	}
	return child;
}

int wait_for(pid_t child)
{
	int status;

	CHECK_EQ(waitpid(child, &status, 0), child);
	return status;
}

int in_child(void (*body)(void *), void *argument)
{
	return wait_for(start_child(body, argument));
}
