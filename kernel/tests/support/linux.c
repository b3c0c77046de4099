// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Linux during a test: its modules, and its log, in which each process has its own position.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "test.h"

static int log_file = -1;

/* Messages that fail a test, of Linux and of the fake provider's unload. */
static const char *const bad[] = {
	"WARNING:",    "BUG:",		 "Oops",	       "general protection", "unable to handle",
	"refcount_t:", "list_add",	 "list_del",	       "blocked for more",   "rcu: INFO",
	"Call Trace",  "Bad page",	 "Bad rss",	       "x86/PAT:",	     "scheduling while atomic",
	"UBSAN:",      "sleeping function", "fake_p2p: LEAK", "KASAN:",	     "BUG kmalloc",
	"soft lockup", "NULL pointer",	 "stack-protector",    "still in use",
};

bool linux_log_mark(void)
{
	if (log_file >= 0)
		close(log_file);
	log_file = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return log_file >= 0 && lseek(log_file, 0, SEEK_END) >= 0;
}

/* Reads one record's text. Returns false at the end of the log. After an overrun, reading continues after the gap. */
static bool next_record(char *text, size_t size)
{
	char record[8192];
	ssize_t length;
	char *start;

	do {
		length = read(log_file, record, sizeof(record) - 1);
	} while (length < 0 && (errno == EPIPE || errno == EINTR));
	if (length <= 0)
		return false;
	record[length] = 0;
	start = strchr(record, ';');
	start = start ? start + 1 : record;
	start[strcspn(start, "\n")] = 0;
	snprintf(text, size, "%s", start);
	return true;
}

const char *linux_log_problem(void)
{
	static char text[512], found[512];

	found[0] = 0;
	while (next_record(text, sizeof(text))) {
		for (size_t i = 0; i < COUNT(bad) && !found[0]; i++) {
			if (strstr(text, bad[i]))
				snprintf(found, sizeof(found), "%.500s", text);
		}
	}
	return found[0] ? found : NULL;
}

bool test_log_has(const char *expected_text)
{
	char text[512];
	bool is_found = false;

	/* Moves only this process's position; the runner reads the whole log of the test from its own. */
	while (!is_found && next_record(text, sizeof(text)))
		is_found = strstr(text, expected_text) != NULL;
	return is_found;
}

const char *module_flavour(void)
{
	const char *flavour = getenv("GDRKIT_FLAVOUR");

	return flavour ? flavour : "open";
}

int module_load_of(const char *flavour, const char *name, const char *parameters)
{
	char path[256];
	int file, error;

	snprintf(path, sizeof(path), "/modules/%s/%s.ko", flavour, name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno;
	error = syscall(SYS_finit_module, file, parameters, 0) ? errno : 0;
	close(file);
	return error;
}

int module_load(const char *name, const char *parameters)
{
	return module_load_of(module_flavour(), name, parameters);
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}

int module_is_loaded(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return access(path, F_OK) == 0;
}
