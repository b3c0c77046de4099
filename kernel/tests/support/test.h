/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Tests that run inside the virtual machine. All sources of a directory become one static program. Each TEST runs in its
 * own process with a time limit. A test fails on:
 *   - a failed CHECK, a signal, or its time limit;
 *   - a pin, DMA mapping or allocation that it leaks in the fake provider;
 *   - a client error that the provider counted;
 *   - a warning in the Linux log.
 */
#ifndef GDRKIT_KERNEL_TEST_H
#define GDRKIT_KERNEL_TEST_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct test {
	const char *name;
	void (*run)(void);
	int limit_s;
	bool is_long; /* only with --full */
	bool is_checked; /* only on the debug Linux */
	struct test *next;
};

void test_register(struct test *test);
/* End the test as failed, or as skipped with a reason. Callable from any thread and from forked children. */
void test_fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
void test_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Prints a line without a verdict, for measurements. */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether this is the slower debug Linux of kernel/rig/checked.sh. */
bool test_is_checked(void);
void test_skip_on_checked(void); /* for tests that measure */
uint64_t test_now_ns(void);
/* Whether the Linux log contains this text, since the test began or since the last successful call. */
bool test_log_has(const char *text);

/*
 * Load and unload a module, of the flavour under test. Return 0 or a positive errno. Names as in /proc/modules;
 * parameters "a=1 b=2" or "".
 */
int module_load(const char *name, const char *parameters);
int module_load_of(const char *flavour, const char *name, const char *parameters);
int module_unload(const char *name);
int module_is_loaded(const char *name);
const char *module_flavour(void); /* "open" or "proprietary" */

/* For the runner: marks the end of the Linux log; returns the first line since then that fails a test, or NULL. */
bool linux_log_mark(void);
const char *linux_log_problem(void);

/* Runs the body. If an access raises SIGBUS or SIGSEGV, ends the body and returns the signal; otherwise returns 0. */
int catch_signal(void (*body)(void *argument), void *argument);
/* Return the signal that a load or a store of this byte raises, or 0. */
int touch(const volatile void *byte);
int touch_read(const volatile void *byte, unsigned char *seen);
int touch_write(volatile void *byte);
/* Checks that a store to each page of 4 KiB raises this signal, or 0. */
void check_touches(volatile unsigned char *bytes, size_t size, int expected);

struct thread {
	pthread_t id;
	void (*body)(void *argument);
	void *argument;
	atomic_bool is_done;
};
void thread_start(struct thread *thread, void (*body)(void *argument), void *argument);
/* Waits for at most 300 ms. Returns whether the body has returned. */
bool thread_ends_soon(struct thread *thread);
void thread_join(struct thread *thread);

/* A forked child that runs `body` and exits with status 0. A failed check of the child fails the test. */
pid_t start_child(void (*body)(void *), void *argument);
int wait_for(pid_t child); /* returns the wait status */
int in_child(void (*body)(void *), void *argument); /* start and wait */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TEST_DEFINE(test_name, seconds, only_full, only_checked)                                                       \
	static void test_name(void);                                                                                   \
	static struct test test_entry_##test_name = {                                                                  \
		.name = #test_name, .run = test_name, .limit_s = seconds, .is_long = only_full,                        \
		.is_checked = only_checked                                                                             \
	};                                                                                                             \
	__attribute__((constructor)) static void test_register_##test_name(void)                                      \
	{                                                                                                              \
		test_register(&test_entry_##test_name);                                                                \
	}                                                                                                              \
	static void test_name(void)

/* TEST(pin_of_unaligned_address_succeeds) { ... } */
#define TEST(test_name) TEST_DEFINE(test_name, 30, false, false)
#define TEST_WITHIN(test_name, seconds) TEST_DEFINE(test_name, seconds, false, false)
/* Runs only with --full. */
#define TEST_LONG(test_name, seconds) TEST_DEFINE(test_name, seconds, true, false)
/* Requires the debug Linux of kernel/rig/checked.sh. */
#define TEST_CHECKED(test_name, seconds) TEST_DEFINE(test_name, seconds, false, true)

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			test_fail(__FILE__, __LINE__, "failed: %s (errno %d)", #condition, errno);                  \
	} while (0)

#define CHECK_EQ(left, right)                                                                                          \
	do {                                                                                                           \
		unsigned long long left_ = (unsigned long long)(left), right_ = (unsigned long long)(right);          \
		if (left_ != right_)                                                                                   \
			test_fail(__FILE__, __LINE__, "%s is %llu (0x%llx), not %s = %llu (0x%llx)", #left, left_,     \
				  left_, #right, right_, right_);                                                      \
	} while (0)

/* The call returns -1 with this errno. */
#define CHECK_ERRNO(call, expected)                                                                                    \
	do {                                                                                                           \
		long result_ = (errno = 0, (long)(call));                                                              \
		int errno_ = errno;                                                                                    \
		if (result_ != -1 || errno_ != (expected))                                                             \
			test_fail(__FILE__, __LINE__, "%s returned %ld, errno %d (%s), not -1 and %s", #call, result_, \
				  errno_, strerror(errno_), #expected);                                                \
	} while (0)

#endif
