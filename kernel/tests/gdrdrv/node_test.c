// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The node after another module: GDRCopy's own, whose scripts create the node from /proc/devices.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../support/gdrdrv.h"

#define FREE_MAJOR 233 /* "experimental use" in Linux's list */
#define MEMORY_MAJOR 1 /* of /dev/null and its like */

/* Like GDRCopy's scripts: fgrep gdrdrv /proc/devices. Returns 0 if there is none. */
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

static bool node_works(void)
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

/* Restores the automatic node for the following tests. */
static void restore(void)
{
	unload();
	unlink(NODE);
	load_kind(true);
	CHECK(node_works());
}

TEST_PERSISTENT(gdrcopy_scripts_find_the_name_and_create_a_working_node)
{
	struct pinned made;

	CHECK(node_works());
	CHECK(major_in_proc() > 0);
	make_node(major_in_proc(), 0);
	CHECK(node_works());
	made = map_new(PAGE);
	CHECK_EQ(touch(made.bytes), 0);
	CHECK_EQ(munmap(made.bytes, PAGE), 0);
	CHECK_EQ(module_unload("gdrdrv"), EAGAIN);
	close(made.file);
	restore();
}

TEST_PERSISTENT(node_of_a_script_works_again_after_each_load)
{
	make_node(major_in_proc(), 0);
	for (int i = 0; i < 3; i++) {
		unload();
		CHECK_EQ(major_in_proc(), 0);
		CHECK(!node_works());
		CHECK_EQ(module_load("gdrdrv", ""), 0);
		CHECK(node_works());
	}
	restore();
}

TEST(node_of_an_earlier_module_works_after_a_load)
{
	unload();
	make_node(FREE_MAJOR, 0);
	CHECK(!node_works());
	CHECK_EQ(module_load("gdrdrv", ""), 0);
	CHECK(test_log_has("reusing /dev/gdrdrv of an earlier module"));
	CHECK(node_works());
	CHECK_EQ(major_in_proc(), FREE_MAJOR);
	restore();
}

TEST(node_with_another_drivers_number_is_reported_as_stale)
{
	unload();
	make_node(MEMORY_MAJOR, 3);
	CHECK_EQ(module_load("gdrdrv", ""), 0);
	CHECK(test_log_has("/dev/gdrdrv is stale: its number is 1:3"));
	CHECK(!node_works());
	make_node(major_in_proc(), 0); /* the remedy in the log */
	CHECK(node_works());
	restore();
}
