// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The node after another module: GDRCopy's own, whose scripts create the node from /proc/devices.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "client.h"

#define FREE_MAJOR 233 /* "experimental use" in Linux's list */
#define MEMORY_MAJOR 1 /* of /dev/null and others */

/* Like GDRCopy's scripts: fgrep gdrdrv /proc/devices. 0: not found. */
static unsigned int major_in_proc(void)
{
	FILE *devices = fopen("/proc/devices", "re");
	unsigned int major, found = 0;
	char line[128], name[64];

	CHECK(devices != NULL);
	while (fgets(line, sizeof(line), devices))
		if (sscanf(line, "%u %63s", &major, name) == 2 && strcmp(name, "gdrdrv") == 0)
			found = major;
	fclose(devices);
	return found;
}

static void make_node(unsigned int major, unsigned int minor)
{
	unlink(NODE);
	CHECK_EQ(mknod(NODE, S_IFCHR | 0666, makedev(major, minor)), 0);
}

static bool responds(void)
{
	struct gdrdrv_version_request version;
	int file = open(NODE, O_RDWR | O_CLOEXEC), result;

	if (file < 0)
		return false;
	result = ioctl(file, GDRDRV_GET_VERSION, &version);
	close(file);
	return result == 0;
}

static void unload(void)
{
	if (module_is_loaded("gdrdrv"))
		CHECK_EQ(module_unload("gdrdrv"), 0);
}

/* For the following tests: removes all traces of this one, and restores the node that Linux creates. */
static void restore(void)
{
	unload();
	unlink(NODE);
	load_kind(true);
	CHECK(responds());
}

TEST(scripts_of_gdrcopy_find_the_name_and_make_a_node_that_works)
{
	uint64_t va = fake_alloc(PAGE, FAKE_P2P_CONTIGUOUS);
	void *bytes;
	int file;

	load_kind(true);
	CHECK(responds());
	CHECK(major_in_proc() > 0);
	make_node(major_in_proc(), 0);
	CHECK(responds());
	file = open_node();
	bytes = map(file, pin(file, va, PAGE), PAGE);
	CHECK_EQ(touch(bytes), 0);
	CHECK_EQ(munmap(bytes, PAGE), 0);
	CHECK_EQ(module_unload("gdrdrv"), EAGAIN);
	close(file);
	restore();
}

TEST(node_that_a_script_made_works_again_after_each_load)
{
	load_kind(true);
	make_node(major_in_proc(), 0);
	for (int i = 0; i < 3; i++) {
		unload();
		CHECK_EQ(major_in_proc(), 0);
		CHECK(!responds());
		CHECK_EQ(module_load("gdrdrv", ""), 0);
		CHECK(responds());
	}
	restore();
}

TEST(node_left_by_an_earlier_module_works_after_a_load)
{
	unload();
	make_node(FREE_MAJOR, 0);
	CHECK(!responds());
	CHECK_EQ(module_load("gdrdrv", ""), 0);
	CHECK(test_log_has("is the node of an earlier module, and works again"));
	CHECK(responds());
	CHECK_EQ(major_in_proc(), FREE_MAJOR);
	restore();
}

TEST(node_of_another_drivers_number_is_named_as_stale)
{
	unload();
	make_node(MEMORY_MAJOR, 3);
	CHECK_EQ(module_load("gdrdrv", ""), 0);
	CHECK(test_log_has("/dev/gdrdrv is stale: it has the number 1:3"));
	CHECK(!responds());
	make_node(major_in_proc(), 0); /* the command in the log */
	CHECK(responds());
	restore();
}
