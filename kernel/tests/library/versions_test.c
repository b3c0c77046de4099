// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The libraries with modules of every version: they send only requests that the version supports.
#include <gdrapi.h>
#include <stdlib.h>

#include "context.h"
#include "old_module.h"

#define SIZE (3 * GPU_PAGE)

static void check_requests(unsigned int minor)
{
	CHECK(old_module_received(255));
	CHECK_EQ(old_module_refusals(), 0);
	CHECK_EQ(old_module_received(1), minor < 5);  /* PIN_BUFFER */
	CHECK_EQ(old_module_received(7), minor >= 5); /* PIN_BUFFER_V2 */
	CHECK_EQ(old_module_received(4), minor < 4);  /* GET_INFO */
	CHECK_EQ(old_module_received(5), minor >= 4); /* GET_INFO_V2 */
	CHECK_EQ(old_module_received(6), minor >= 5); /* GET_ATTR */
	CHECK(old_module_received(2));		       /* UNPIN_BUFFER */
}

static void own_api_on(unsigned int minor)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_RUNS, minor + 1);
	unsigned char *bytes = malloc(SIZE);
	struct gdrkit_map_options options = { .struct_size = sizeof(options), .mapping_type = GDRKIT_MAPPING_CACHED };
	gdrkit_context_t context;
	gdrkit_pin_t pin;
	void *address = NULL;

	old_module_emulate(2 << 16 | minor);
	context = opened();
	pin = pinned(context, va + 5, SIZE - 5);
	CHECK_EQ(-gdrkit_map(pin, &options, &address), EOPNOTSUPP);
	CHECK_EQ(old_module_received(8), minor >= 5); /* REQ_MAPPING_TYPE */
	mapped(pin);
	CHECK_EQ(gdrkit_is_invalidated(pin), 0);
	bytes_fill(bytes, SIZE, minor + 20);
	CHECK_EQ(gdrkit_write(pin, 0, bytes + 5, SIZE - 5), 0);
	fake_write(va, bytes, 5);
	fake_check(va, SIZE, minor + 20);
	CHECK_EQ(gdrkit_close(context), 0);
	check_requests(minor);
	fake_free(va);
	free(bytes);
}

TEST(own_api_works_on_every_version)
{
	for (unsigned int minor = 0; minor <= 6; minor++)
		own_api_on(minor);
}

static void drop_in_on(unsigned int minor)
{
	uint64_t va = fake_alloc_filled(SIZE, FAKE_P2P_REVERSED, minor + 1);
	int major_number = -1, minor_number = -1, value = -1;
	void *address = NULL;
	gdr_info_t info;
	gdr_mh_t handle;
	gdr_t g;

	old_module_emulate(2 << 16 | minor);
	g = gdr_open();
	CHECK(g != NULL);
	CHECK_EQ(gdr_driver_get_version(g, &major_number, &minor_number), 0);
	CHECK_EQ(major_number, 2);
	CHECK_EQ(minor_number, minor);
	CHECK_EQ(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), 0);
	CHECK_EQ(value, minor >= 5);
	CHECK_EQ(gdr_pin_buffer_v2(g, va, SIZE, GDR_PIN_FLAG_FORCE_PCIE, &handle), minor >= 5 ? 0 : EINVAL);
	CHECK_EQ(gdr_pin_buffer(g, va, SIZE, 0, 0, &handle), 0);
	CHECK_EQ(gdr_map(g, handle, &address, SIZE), 0);
	CHECK_EQ(gdr_get_info(g, handle, &info), 0);
	CHECK(info.mapped == 1 && info.wc_mapping == 1 && info.mapping_type == GDR_MAPPING_TYPE_WC);
	bytes_check(address, SIZE, minor + 1);
	CHECK_EQ(gdr_unmap(g, handle, address, SIZE), 0);
	CHECK_EQ(gdr_unpin_buffer(g, handle), 0);
	CHECK_EQ(gdr_close(g), 0);
	check_requests(minor);
	fake_free(va);
}

TEST(drop_in_works_on_every_version)
{
	for (unsigned int minor = 0; minor <= 6; minor++)
		drop_in_on(minor);
}

TEST(modules_before_2_0_are_rejected)
{
	struct gdrkit_backend_report report = { .struct_size = sizeof(report) };

	old_module_emulate(1 << 16 | 3);
	CHECK_EQ(gdrkit_probe_backend(0, &report), 0);
	CHECK_EQ(report.is_usable, 0);
	CHECK(strstr(report.reason, "gdrdrv 1.3: the oldest supported version is 2.0") != NULL);
	CHECK(gdr_open() == NULL);
}
