// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Log messages if the client cannot be loaded.
#include <stdio.h>

#include "../support/rdma_core.h"

#define SIZE FAKE_P2P_PAGE

static void check_parameter(const char *name, char expected)
{
	char path[128], found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/" CLIENT "/parameters/%s", name);
	file = fopen(path, "re");
	CHECK(file);
	CHECK_EQ(fread(&found, 1, 1, file), 1);
	fclose(file);
	CHECK_EQ(found, expected);
}

TEST_ALL_MODES(parameters_can_be_read)
{
	check_parameter("persistent", mode->is_persistent ? 'Y' : 'N');
	check_parameter("invalidate_unmaps", mode == LEGACY ? 'N' : 'Y');
}

TEST(persistent_is_the_default)
{
	static const struct mode plain = { "", true, true };

	client_load(&plain);
	check_parameter("persistent", 'Y');
	CHECK(test_log_has("registered as nv_mem, persistent"));
	client_unload();
}

TEST(core_without_the_interface_points_to_dma_buf)
{
	client_load(PERSISTENT);
	client_unload();
	core_close();
	CHECK_EQ(module_unload("fake_rdma_core"), 0);
	CHECK_EQ(module_load(CLIENT, ""), EOPNOTSUPP);
	CHECK(test_log_has("ibv_reg_dmabuf_mr"));
	CHECK(!module_is_loaded(CLIENT));
	CHECK_EQ(module_load("fake_rdma_core", ""), 0);
}

TEST(other_client_with_the_name_is_reported)
{
	client_load(PERSISTENT);
	client_unload();
	CHECK_EQ(module_load("nvidia_peermem", ""), 0);
	CHECK_EQ(module_load(CLIENT, ""), EEXIST);
	CHECK(test_log_has("rmmod nvidia_peermem"));
	CHECK_EQ(core_report().clients, 1);
	CHECK_EQ(module_unload("nvidia_peermem"), 0);
	client_load(PERSISTENT);
	CHECK_EQ(module_load("nvidia_peermem", ""), EEXIST);
	client_unload();
}

TEST(refusal_of_the_core_is_reported)
{
	client_load(PERSISTENT);
	client_unload();
	fake_set(FAKE_CORE_REFUSE_CLIENTS, 1);
	CHECK_EQ(module_load(CLIENT, ""), EINVAL);
	CHECK(test_log_has("the RDMA core refused it"));
	fake_set(FAKE_CORE_REFUSE_CLIENTS, 0);
	client_load(PERSISTENT);
	client_unload();
}

TEST(invalid_parameters_are_rejected)
{
	client_load(PERSISTENT);
	client_unload();
	CHECK_EQ(module_load(CLIENT, "persistent=perhaps"), EINVAL);
	CHECK(!module_is_loaded(CLIENT));
}
