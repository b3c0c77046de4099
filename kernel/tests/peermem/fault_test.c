// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Failed calls, and invalid results of the driver.
#include "../support/rdma_core.h"

#define SIZE (5 * FAKE_P2P_PAGE)

static void check_nothing_is_held(void)
{
	CHECK_EQ(provider_pins(), 0);
	CHECK_EQ(fake_report().mappings, 0);
	CHECK_EQ(core_report().registrations, 0);
}

TEST_ALL_MODES(errors_of_the_driver_are_returned)
{
	enum fake_p2p_call get = mode->is_persistent ? FAKE_P2P_CALL_GET_PERSISTENT : FAKE_P2P_CALL_GET;
	uint32_t id;

	fake_fail(get, 1, ENOMEM);
	CHECK_EQ(core_register(va, SIZE, &id), -ENOMEM);
	CHECK(test_log_has("cannot pin"));
	fake_fail(get, 1, EINVAL);
	CHECK_EQ(core_register(va, SIZE, &id), 0);
	fake_fail(FAKE_P2P_CALL_DMA_MAP, 1, EIO);
	CHECK_EQ(core_register(va, SIZE, &id), -EIO);
	check_nothing_is_held();
	check_registration(va, SIZE);
}

TEST_MODES(mapping_that_the_driver_keeps_ends_with_the_pages, PERSISTENT, PERSISTENT)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	fake_fail(FAKE_P2P_CALL_DMA_UNMAP, 1, EIO);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK(test_log_has("cannot undo a DMA mapping"));
	check_nothing_is_held();
}

/* The callback may still run, so the registration and the module must stay until then. */
TEST_INVALIDATING(pages_that_the_driver_keeps_are_still_awaited)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	fake_fail(FAKE_P2P_CALL_PUT, 1, ENOMEM);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK(test_log_has("cannot release 327680 bytes"));
	CHECK_EQ(fake_report().pins, 1);
	CHECK_EQ(module_unload(CLIENT), EWOULDBLOCK);
	fake_free(va);
	check_nothing_is_held();
	CHECK_EQ(core_report().invalidations, 0);
}

TEST_MODES(rejected_persistent_pins_log_the_remedy, PERSISTENT, PERSISTENT)
{
	uint32_t id;

	fake_set(FAKE_P2P_REFUSE_PERSISTENT, 524); /* ENOTSUPP, which user space does not define */
	CHECK_EQ(core_register(va, SIZE, &id), -524);
	CHECK(test_log_has("load with persistent=0"));
	check_nothing_is_held();
}

TEST_ALL_MODES(invalid_results_of_the_driver_are_rejected)
{
	/* A pin that fails with EINVAL means for the core that the memory is not the GPU's: 0. */
	static const struct {
		enum fake_p2p_knob knob;
		uint64_t value;
		int result;
		const char *log;
	} cases[] = {
		{ FAKE_P2P_DAMAGE, FAKE_P2P_NO_TABLE, -EIO, "returned no page table" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_NO_PAGES, 0, "pages instead of" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_NO_ENTRIES, 0, "pinned 0 pages instead of 5" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_ONE_SHORT, 0, "pinned 4 pages instead of 5" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_ONE_LONG, 0, "pinned 6 pages instead of 5" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_HOLE, 0, "page 4 of 5" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_MISALIGNED, 0, "page 4 of 5" },
		{ FAKE_P2P_TABLE_VERSION, 0x00030000, 0, "version 0x30000" },
		{ FAKE_P2P_TABLE_VERSION, 0, 0, "version 0x0" },
		{ FAKE_P2P_PAGE_SIZE, 0, 0, "size type 0" },
		{ FAKE_P2P_PAGE_SIZE, 2, 0, "size type 2" },
		{ FAKE_P2P_PAGE_SIZE, 77, 0, "size type 77" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_NO_TABLE, -EIO, "returned no mapping" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_NO_PAGES, -EINVAL, "mapped 5 pages" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_NO_ENTRIES, -EINVAL, "mapped 0 pages" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_ONE_SHORT, -EINVAL, "mapped 4 pages" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_ONE_LONG, -EINVAL, "mapped 6 pages" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_MISALIGNED, -EINVAL, "address 4 of 5" },
		{ FAKE_P2P_MAPPING_VERSION, 0x00010003, -EINVAL, "version 0x10003" },
		{ FAKE_P2P_MAPPING_VERSION, 0x00030000, -EINVAL, "version 0x30000" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t id;

		fake_set(cases[i].knob, cases[i].value);
		CHECK_EQ(core_register(va, SIZE, &id), cases[i].result);
		if (!test_log_has(cases[i].log))
			test_fail(__FILE__, __LINE__, "%s, case %zu: the Linux log lacks: %s", mode->parameters, i,
				  cases[i].log);
		check_nothing_is_held();
		fake_reset();
	}
	check_registration(va, SIZE);
}

TEST_ALL_MODES(both_major_versions_of_tables_are_supported)
{
	static const uint64_t versions[] = { 0x00010002, 0x00010003, 0x00020000, 0x00020001 };

	for (size_t i = 0; i < COUNT(versions); i++) {
		fake_set(FAKE_P2P_TABLE_VERSION, versions[i]);
		check_registration(va, SIZE);
	}
}

TEST_ALL_MODES(failures_of_the_core_leak_nothing)
{
	for (int point = FAKE_P2P_CALLS; point < FAKE_CALLS; point++) {
		uint32_t id;

		fake_fail(point, 1, ENOMEM);
		CHECK_EQ(core_register(va, SIZE, &id), -ENOMEM);
		check_nothing_is_held();
	}
	check_registration(va, SIZE);
}

TEST_ALL_MODES(non_pci_adapters_are_rejected)
{
	uint32_t id;

	fake_set(FAKE_CORE_NOT_PCI, 1);
	CHECK_EQ(core_register(va, SIZE, &id), -EINVAL);
	CHECK(test_log_has("not a PCI device"));
	CHECK_EQ(fake_report().maps, 0);
	check_nothing_is_held();
}
