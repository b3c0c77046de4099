// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The drop-in library, used like GDRCopy's.
#include <gdrapi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "context.h"

#define SIZE (4 * GPU_PAGE)

static void copy_both_ways(enum fake_p2p_layout layout, uint32_t pin_flags)
{
	uint64_t va = fake_alloc_filled(SIZE, layout, 1);
	unsigned char *bytes = malloc(SIZE);
	gdr_t g = gdr_open();
	gdr_info_t info;
	gdr_mh_t handle;
	void *address = NULL;

	CHECK(g != NULL);
	CHECK_EQ(gdr_pin_buffer_v2(g, va, SIZE, pin_flags, &handle), 0);
	CHECK_EQ(gdr_get_info(g, handle, &info), 0);
	CHECK_EQ(info.va, va);
	CHECK_EQ(info.mapped_size, SIZE);
	CHECK_EQ(info.page_size, GPU_PAGE);
	CHECK(info.tm_cycles > 0 && info.cycles_per_ms > 0);
	CHECK_EQ(info.mapped, 0);
	CHECK_EQ(gdr_map(g, handle, &address, SIZE), 0);
	CHECK_EQ(gdr_map(g, handle, &address, SIZE), EAGAIN);
	CHECK_EQ(gdr_get_info(g, handle, &info), 0);
	CHECK_EQ(info.mapped, 1);
	CHECK_EQ(info.wc_mapping, 1);
	CHECK_EQ(info.mapping_type, GDR_MAPPING_TYPE_WC);
	bytes_check(address, SIZE, 1);
	bytes_fill(bytes, SIZE, 2);
	CHECK_EQ(gdr_copy_to_mapping(handle, address, bytes, SIZE), 0);
	fake_check(va, SIZE, 2);
	bytes_fill(bytes, SIZE, 3);
	fake_write(va, bytes, SIZE);
	memset(bytes, 0, SIZE);
	CHECK_EQ(gdr_copy_from_mapping(handle, bytes, address, SIZE), 0);
	bytes_check(bytes, SIZE, 3);
	CHECK_EQ(gdr_unmap(g, handle, address, SIZE), 0);
	CHECK_EQ(gdr_unpin_buffer(g, handle), 0);
	CHECK_EQ(gdr_close(g), 0);
	fake_free(va);
}

TEST(drop_in_data_is_right_both_ways_in_every_layout)
{
	for (int layout = 0; layout < FAKE_P2P_LAYOUTS; layout++)
		copy_both_ways(layout, GDR_PIN_FLAG_DEFAULT);
	copy_both_ways(FAKE_P2P_CONTIGUOUS, GDR_PIN_FLAG_FORCE_PCIE);
}

TEST(drop_in_reports_the_modules_version_and_attributes)
{
	gdr_t g = gdr_open();
	int major = 0, minor = 0, value = -1;

	CHECK(g != NULL);
	CHECK_EQ(gdr_driver_get_version(g, &major, &minor), 0);
	CHECK(major == 2 && minor == 6);
	CHECK_EQ(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), 0);
	CHECK_EQ(value, 1);
	CHECK_EQ(gdr_get_attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &value), 0);
	CHECK_EQ(value, 1);
	CHECK_EQ(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &value), 0);
	CHECK_EQ(value, 0);
	CHECK_EQ(gdr_close(g), 0);
}

TEST(drop_in_accepts_the_sloppy_calls_that_gdrcopy_accepts)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_CONTIGUOUS, 1);
	gdr_t g = gdr_open();
	gdr_mh_t unaligned, small, tokens;
	void *address = NULL;

	CHECK(g != NULL);
	CHECK_EQ(gdr_pin_buffer(g, va + 8, 16, 0, 0, &unaligned), 0);
	CHECK_EQ(gdr_map(g, unaligned, &address, GPU_PAGE), EINVAL);
	CHECK_EQ(gdr_pin_buffer(g, va, SIZE, 0, 0, &small), 0);
	CHECK_EQ(gdr_map(g, small, &address, 100), 0);
	bytes_check(address, 4096, 1);
	CHECK_EQ(gdr_pin_buffer(g, va, SIZE, 0x1234, 7, &tokens), 0);
	CHECK_EQ(gdr_unpin_buffer(g, small), 0); /* still mapped */
	CHECK_EQ(gdr_close(g), 0);		 /* with two pins left */
}

TEST(drop_in_logs_a_stale_node)
{
	char log[4096] = "";
	int pipes[2];

	CHECK_EQ(module_unload("gdrdrv"), 0);
	unlink("/dev/gdrdrv");
	CHECK_EQ(mknod("/dev/gdrdrv", S_IFCHR | 0666, makedev(233, 0)), 0); /* "experimental use" in Linux's list */
	CHECK_EQ(pipe(pipes), 0);
	CHECK(dup2(pipes[1], STDERR_FILENO) == STDERR_FILENO);
	setenv("GDRCOPY_ENABLE_LOGGING", "1", 1);
	setenv("GDRKIT_BACKEND", "gdrdrv", 1);
	CHECK(gdr_open() == NULL);
	CHECK(read(pipes[0], log, sizeof(log) - 1) > 0);
	unlink("/dev/gdrdrv");
	CHECK_EQ(module_load("gdrdrv", ""), 0);
	if (!strstr(log, "/dev/gdrdrv: the device file has the number 233:0, but no gdrdrv kernel module is loaded"))
		test_fail(__FILE__, __LINE__, "the drop-in logged: %s", log);
}

TEST(drop_in_reports_invalidation_by_the_callback_flag)
{
	uint64_t va;
	gdr_t g;
	gdr_mh_t handle, other;
	gdr_info_t info;
	void *address = NULL;
	int flag = -1, value = -1;

	CHECK_EQ(module_unload("gdrdrv"), 0);
	CHECK_EQ(module_load("gdrdrv", "use_persistent_mapping=0"), 0);
	va = fake_alloc_filled(SIZE, FAKE_P2P_RUNS, 1);
	g = gdr_open();
	CHECK(g != NULL);
	CHECK_EQ(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), 0);
	CHECK_EQ(value, 0);
	CHECK_EQ(gdr_pin_buffer(g, va, SIZE, 0, 0, &handle), 0);
	CHECK_EQ(gdr_pin_buffer(g, va, SIZE, 0, 0, &other), 0);
	CHECK_EQ(gdr_map(g, handle, &address, SIZE), 0);
	bytes_check(address, SIZE, 1);
	CHECK_EQ(gdr_get_callback_flag(g, handle, &flag), 0);
	CHECK_EQ(flag, 0);
	CHECK_EQ(gdr_get_info(g, handle, &info), 0);
	CHECK(info.mapped && info.wc_mapping && info.mapping_type == GDR_MAPPING_TYPE_WC);
	fake_free(va);
	/* The same results as with GDRCopy's module. */
	CHECK_EQ(gdr_get_info(g, handle, &info), 0);
	CHECK(!info.mapped && !info.wc_mapping && info.mapping_type == GDR_MAPPING_TYPE_NONE);
	CHECK_EQ(gdr_get_callback_flag(g, handle, &flag), 0);
	CHECK_EQ(flag, 1);
	CHECK_EQ(touch(address), SIGBUS);
	CHECK_EQ(touch((unsigned char *)address + SIZE - 1), SIGBUS);
	CHECK_EQ(gdr_unmap(g, handle, address, SIZE), 0);
	CHECK_EQ(gdr_unpin_buffer(g, handle), 0);
	CHECK_EQ(gdr_map(g, other, &address, SIZE), EINVAL);
	CHECK_EQ(gdr_unpin_buffer(g, other), 0);
	CHECK_EQ(gdr_close(g), 0);
	CHECK_EQ(module_unload("gdrdrv"), 0);
	CHECK_EQ(module_load("gdrdrv", ""), 0);
}
