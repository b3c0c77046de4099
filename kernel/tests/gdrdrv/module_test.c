// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Administration of the module: node, /proc, parameters, limit, log, unloading.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../support/gdrdrv.h"

#define SIZE (4 * PAGE)
#define PROC "/proc/driver/gdrdrv/"

static const char *text_of(const char *path)
{
	static char text[4096];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (file < 0)
		return NULL;
	length = read(file, text, sizeof(text) - 1);
	text[length < 0 ? 0 : length] = 0;
	close(file);
	return text;
}

TEST_PERSISTENT(node_exists_with_the_module_for_all_users)
{
	struct stat about;

	CHECK_EQ(stat(NODE, &about), 0);
	CHECK(S_ISCHR(about.st_mode));
	CHECK_EQ(about.st_mode & 0777, 0666);
	CHECK_EQ(module_unload("gdrdrv"), 0);
	CHECK_ERRNO(stat(NODE, &about), ENOENT);
	CHECK_ERRNO(stat("/proc/driver/gdrdrv", &about), ENOENT);
}

static void pin_as_nobody(void *argument)
{
	int file;

	(void)argument;
	CHECK_EQ(setgid(65534), 0);
	CHECK_EQ(setuid(65534), 0);
	file = open_node();
	CHECK_ERRNO(try_pin(file, 4096, 1), EINVAL);
	CHECK(text_of(PROC "params") != NULL);
	CHECK(text_of(PROC "owners") == NULL);
	CHECK(text_of(PROC "nv_get_pages_refcount") == NULL);
}

TEST_PERSISTENT(unprivileged_user_can_pin_and_read_only_parameters)
{
	CHECK_EQ(in_child(pin_as_nobody, NULL), 0);
}

TEST_PERSISTENT(proc_has_the_lines_that_scripts_parse)
{
	char expected[256];

	snprintf(expected, sizeof(expected),
		 "Version: 2.6\nBuilt for NVIDIA driver flavor: %s\nUse persistent mapping: yes\ndbg_enabled: 1\n"
		 "info_enabled: 0\n",
		 strcmp(module_flavour(), "open") == 0 ? "opensource" : "proprietary");
	CHECK(strncmp(text_of(PROC "params"), expected, strlen(expected)) == 0);
	CHECK(strcmp(text_of(PROC "version"), "2.6\n") == 0);
	load("use_persistent_mapping=0 info_enabled=1");
	CHECK(strstr(text_of(PROC "params"), "Use persistent mapping: no\n") != NULL);
	CHECK(strstr(text_of(PROC "params"), "info_enabled: 1\n") != NULL);
}

TEST_PERSISTENT(refcount_exists_only_if_debugging_was_enabled_at_load)
{
	CHECK(text_of(PROC "nv_get_pages_refcount") != NULL);
	load("dbg_enabled=0");
	CHECK(text_of(PROC "nv_get_pages_refcount") == NULL);
}

TEST_PERSISTENT(proc_counts_pins_and_bytes_of_each_owner)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	char line[64];
	int file, other;

	CHECK(strcmp(text_of(PROC "nv_get_pages_refcount"), "0\n") == 0);
	CHECK(strcmp(text_of(PROC "owners"), "process pins bytes\nrefused by the NVIDIA driver: 0\n") == 0);
	file = open_node();
	other = open_node();
	pin(file, va, SIZE);
	pin(other, va, PAGE);
	snprintf(line, sizeof(line), "\n%d 2 %llu\n", getpid(), (unsigned long long)(SIZE + PAGE));
	CHECK(strstr(text_of(PROC "owners"), line) != NULL);
	CHECK(strcmp(text_of(PROC "nv_get_pages_refcount"), "2\n") == 0);
	close(file);
	CHECK(strcmp(text_of(PROC "nv_get_pages_refcount"), "1\n") == 0);
	close(other);
	CHECK(strcmp(text_of(PROC "owners"), "process pins bytes\nrefused by the NVIDIA driver: 0\n") == 0);
}

TEST_PERSISTENT(parameters_can_be_read)
{
	static const char *const names[] = { "dbg_enabled", "info_enabled", "use_persistent_mapping",
					     "pinned_limit_bytes", "handle_limit" };
	char path[128];

	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "/sys/module/gdrdrv/parameters/%s", names[i]);
		CHECK(text_of(path) != NULL && text_of(path)[0] >= '0');
	}
	CHECK(strcmp(text_of("/sys/module/gdrdrv/parameters/handle_limit"), "4294967296\n") == 0);
}

static void pin_one_more(void *argument)
{
	(void)argument;
	CHECK_EQ(try_pin(open_node(), fake_alloc(3 * PAGE, FAKE_P2P_CONTIGUOUS), 3 * PAGE), 0);
}

TEST_BOTH(limit_on_pinned_bytes_applies_per_process)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS), handle;
	int file, other;

	load(is_persistent ? "pinned_limit_bytes=196608" : "pinned_limit_bytes=196608 use_persistent_mapping=0");
	file = open_node();
	other = open_node();
	CHECK_ERRNO(try_pin(file, va, SIZE), ENOMEM);
	handle = pin(file, va, PAGE + 1);
	CHECK_ERRNO(try_pin(other, va, 2 * PAGE), ENOMEM);
	CHECK_ERRNO(try_pin(other, va, 1ULL << 43), ENOMEM);
	CHECK_EQ(try_pin(other, va, PAGE), 0);
	CHECK_ERRNO(try_pin(file, va, 1), ENOMEM);
	CHECK_EQ(in_child(pin_one_more, NULL), 0); /* another process has its own limit */
	CHECK_EQ(unpin(file, handle), 0);
	CHECK_EQ(try_pin(file, va, 2 * PAGE), 0);
	CHECK_EQ(provider_pins(), 2);
}

static void check_limit(const char *parameters, uint64_t va, uint64_t size, int expected)
{
	int file;

	load(parameters);
	file = open_node();
	CHECK_EQ(try_pin(file, va, size) ? errno : 0, expected);
	close(file);
}

TEST(extreme_limits_work)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);

	check_limit("pinned_limit_bytes=18446744073709551615", va, SIZE, 0);
	check_limit("pinned_limit_bytes=9223372036854775808", va, SIZE, 0);
	check_limit("pinned_limit_bytes=1", va, 1, ENOMEM);
	check_limit("pinned_limit_bytes=0", va, SIZE, 0);
	/* Rejected by the provider, not by the limit. */
	check_limit("pinned_limit_bytes=18446744073709551615", va, 1ULL << 43, EINVAL);
}

TEST_LOADED(failed_pins_do_not_count_against_the_limit, "pinned_limit_bytes=262144")
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();

	for (int i = 0; i < 10; i++) {
		fake_fail(FAKE_P2P_CALL_GET_PERSISTENT, 1, EIO);
		CHECK_ERRNO(try_pin(file, va, SIZE), EIO);
		fake_set(FAKE_P2P_DAMAGE, FAKE_P2P_HOLE);
		CHECK_ERRNO(try_pin(file, va, SIZE), EIO);
		fake_set(FAKE_P2P_DAMAGE, FAKE_P2P_SOUND);
	}
	CHECK_EQ(try_pin(file, va, SIZE), 0);
}

/* Any user can cause thousands of errors; they must not flood the log. */
TEST_PERSISTENT(errors_are_rate_limited)
{
	uint64_t va = fake_alloc(PAGE, FAKE_P2P_CONTIGUOUS);
	int lines = 0, file = open_node(), log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[8192];
	ssize_t length;

	fake_set(FAKE_P2P_TABLE_VERSION, 0x00090000);
	lseek(log, 0, SEEK_END);
	for (int i = 0; i < 500; i++)
		CHECK_ERRNO(try_pin(file, va, PAGE), EFAULT);
	while ((length = read(log, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		record[length > 0 ? length : 0] = 0;
		lines += strstr(record, "unsupported version 0x90000") != NULL;
		if (strstr(record, "unsupported version 0x90000"))
			CHECK_EQ(atoi(record) & 7, 3); /* error level */
	}
	CHECK(lines >= 1 && lines <= 100);
}

/* Only in the open flavour, because Linux exports trace points to GPL-compatible modules only. */
TEST_PERSISTENT(trace_points_exist_in_the_open_flavour)
{
	static const char events[] = "/sys/kernel/tracing/events/gdrdrv/gdrdrv_pin/id";
	bool is_open = strcmp(module_flavour(), "open") == 0;

	if (access("/sys/kernel/tracing/events", F_OK))
		test_skip("this Linux has no trace events");
	CHECK_EQ(access(events, F_OK) == 0, is_open);
}
