// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The main program of a group.
//   usage: <program> <group> [pattern]    pattern: shell pattern for group.test; GDRKIT_KERNEL_FULL=1 adds long tests
// Output, one line each, parsed by kernel/rig:
//   ok group.test 12 ms | FAIL group.test 12 ms: why | skip group.test 0 ms: reason | note group.test: text
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "test.h"

#define EXIT_FAILED 101
#define EXIT_SKIPPED 102

static struct test *first, **last = &first;
static const char *group;
static const struct test *current;
static char *verdict; /* shared by all processes of a test; the first failure writes it */
#define VERDICT_SIZE 1024

void test_register(struct test *test)
{
	*last = test;
	last = &test->next;
}

void test_fail(const char *file, int line, const char *format, ...)
{
	const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	va_list arguments;
	int used;

	if (!verdict[0]) {
		used = snprintf(verdict, VERDICT_SIZE, "%s:%d: ", name, line);
		va_start(arguments, format);
		vsnprintf(verdict + used, VERDICT_SIZE - used, format, arguments);
		va_end(arguments);
	}
	_exit(EXIT_FAILED);
}

void test_skip(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(verdict, VERDICT_SIZE, format, arguments);
	va_end(arguments);
	_exit(EXIT_SKIPPED);
}

void test_note(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printf("note %s.%s: %s\n", group, current->name, text);
	fflush(stdout);
}

static bool is_set(const char *variable)
{
	const char *word = getenv(variable);

	return word && strcmp(word, "1") == 0;
}

bool test_is_checked(void)
{
	return is_set("GDRKIT_KERNEL_CHECKED");
}

void test_skip_on_checked(void)
{
	if (test_is_checked())
		test_skip("the debug Linux's checks cost more than what is measured");
}

uint64_t test_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static long milliseconds(void)
{
	return test_now_ns() / 1000000;
}

static void run_in_child(const struct test *test)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	linux_log_mark();
	test->run();
	_exit(verdict[0] ? EXIT_FAILED : 0);
}

/* Waits for the child until its time limit, then kills its group. Returns the wait status. */
static int await_child(pid_t child, int limit_s, bool *is_late)
{
	long end = milliseconds() + limit_s * (test_is_checked() ? 8000L : 1000L);
	int status = 0;

	*is_late = false;
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (milliseconds() > end) {
			*is_late = true;
			kill(-child, SIGKILL);
			kill(child, SIGKILL);
			/*
			 * A child that hangs in the system cannot be killed; then the rig's time limit ends the
			 * machine.
			 */
			for (int i = 0; i < 500 && waitpid(child, &status, WNOHANG) == 0; i++)
				usleep(10000);
			return status;
		}
		usleep(1000);
	}
	kill(-child, SIGKILL);
	return status;
}

/* Returns whether the test failed. */
static bool run_test(const struct test *test)
{
	long start = milliseconds();
	bool is_late, is_skipped, is_failed;
	const char *problem;
	int status;
	pid_t child;

	current = test;
	memset(verdict, 0, VERDICT_SIZE);
	fake_reset();
	linux_log_mark();
	fflush(stdout);
	child = fork();
	if (child == 0)
		run_in_child(test);
	status = await_child(child, test->limit_s, &is_late);
	problem = fake_problem() ?: linux_log_problem(); /* a leak, a client error or a Linux warning */
	is_skipped = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED;
	is_failed = !is_skipped && (is_late || status || problem || verdict[0]);
	printf("%s %s.%s %ld ms", is_skipped ? "skip" : is_failed ? "FAIL" : "ok", group, test->name,
	       milliseconds() - start);
	if (is_late)
		printf(": exceeded its time limit of %d s", test->limit_s);
	else if (WIFSIGNALED(status))
		printf(": was killed by signal %d", WTERMSIG(status));
	else if (verdict[0])
		printf(": %s", verdict);
	else if (status)
		printf(": exited with status %d", WEXITSTATUS(status));
	if (problem)
		printf("%s %s", is_late || status || verdict[0] ? ";" : ":", problem);
	printf("\n");
	fflush(stdout);
	return is_failed;
}

int main(int argc, char **argv)
{
	const char *pattern = argc > 2 ? argv[2] : "*";
	bool is_full = is_set("GDRKIT_KERNEL_FULL");
	int failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: %s <group> [pattern]\n", argv[0]);
		return 2;
	}
	group = argv[1];
	verdict = mmap(NULL, VERDICT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (verdict == MAP_FAILED || !linux_log_mark()) {
		perror("runner");
		return 2;
	}
	for (const struct test *test = first; test; test = test->next) {
		char name[256];

		snprintf(name, sizeof(name), "%s.%s", group, test->name);
		if (fnmatch(pattern, name, 0) == 0 && (is_full || !test->is_long) &&
		    (test_is_checked() || !test->is_checked))
			failed |= run_test(test);
	}
	return failed;
}
