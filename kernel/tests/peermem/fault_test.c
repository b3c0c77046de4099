// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Failed calls, and invalid results of the driver.
#include "../support/test.h"

#include "../support/module.h"
#include "../support/rdma_core.h"

#define SIZE (5 * FAKE_P2P_PAGE)

static void check_nothing_is_held(void)
{
	CHECK_EQ(fake_report().pins + fake_report().persistent_pins, 0);
	CHECK_EQ(fake_report().mappings, 0);
	CHECK_EQ(core_report().registrations, 0);
}

/* A valid registration works after the failure. */
static void check_recovered(uint64_t va)
{
	struct place place = place_of(va, SIZE);
	uint32_t id;

	CHECK_EQ(core_register(va, SIZE, &id), 1);
	check_reaches(id, &place);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
}

TEST(errors_of_the_driver_are_returned)
{
	for (int mode = 0; mode < MODES; mode++) {
		bool is_persistent = modes[mode].is_persistent;
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
		uint32_t id;

		client_load(&modes[mode]);
		fake_fail(is_persistent ? FAKE_P2P_CALL_GET_PERSISTENT : FAKE_P2P_CALL_GET, 1, ENOMEM);
		CHECK_EQ(core_register(va, SIZE, &id), -ENOMEM);
		CHECK(test_log_has("cannot pin"));
		fake_fail(is_persistent ? FAKE_P2P_CALL_GET_PERSISTENT : FAKE_P2P_CALL_GET, 1, EINVAL);
		CHECK_EQ(core_register(va, SIZE, &id), 0);
		fake_fail(FAKE_P2P_CALL_DMA_MAP, 1, EIO);
		CHECK_EQ(core_register(va, SIZE, &id), -EIO);
		check_nothing_is_held();
		check_recovered(va);
		client_unload();
		fake_free(va);
	}
}

TEST(mapping_that_the_driver_keeps_ends_with_the_pages)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	uint32_t id;

	client_load(PERSISTENT);
	id = core_registration(va, SIZE, FAKE_CORE_STOP);
	fake_fail(FAKE_P2P_CALL_DMA_UNMAP, 1, EIO);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK(test_log_has("cannot undo a DMA mapping"));
	check_nothing_is_held();
	client_unload();
	fake_free(va);
}

/* The callback may still run, so the registration and the module must stay until then. */
TEST(pages_that_the_driver_keeps_are_still_awaited)
{
	static const struct mode *const invalidating[] = { UNMAPPING, LEGACY };

	for (int i = 0; i < 2; i++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
		uint32_t id;

		client_load(invalidating[i]);
		id = core_registration(va, SIZE, FAKE_CORE_STOP);
		fake_fail(FAKE_P2P_CALL_PUT, 1, ENOMEM);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
		CHECK(test_log_has("cannot release 327680 bytes"));
		CHECK_EQ(fake_report().pins, 1);
		CHECK_EQ(module_unload(CLIENT), EWOULDBLOCK);
		fake_free(va);
		check_nothing_is_held();
		CHECK_EQ(core_report().invalidations, 0);
		client_unload();
	}
}

TEST(rejected_persistent_pins_log_the_remedy)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	uint32_t id;

	client_load(PERSISTENT);
	fake_set(FAKE_P2P_REFUSE_PERSISTENT, 524); /* ENOTSUPP, which user space does not define */
	CHECK_EQ(core_register(va, SIZE, &id), -524);
	CHECK(test_log_has("load with persistent=0"));
	check_nothing_is_held();
	client_unload();
	fake_free(va);
}

TEST(invalid_tables_are_rejected)
{
	static const struct {
		enum fake_p2p_knob knob;
		uint64_t value;
		const char *log;
	} cases[] = {
		{ FAKE_P2P_DAMAGE, FAKE_P2P_NO_PAGES, "pages instead of" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_NO_ENTRIES, "pinned 0 pages instead of 5" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_ONE_SHORT, "pinned 4 pages instead of 5" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_ONE_LONG, "pinned 6 pages instead of 5" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_HOLE, "page 4 of 5" },
		{ FAKE_P2P_DAMAGE, FAKE_P2P_MISALIGNED, "page 4 of 5" },
		{ FAKE_P2P_TABLE_VERSION, 0x00030000, "version 0x30000" },
		{ FAKE_P2P_TABLE_VERSION, 0, "version 0x0" },
		{ FAKE_P2P_PAGE_SIZE, 0, "size type 0" },
		{ FAKE_P2P_PAGE_SIZE, 2, "size type 2" },
		{ FAKE_P2P_PAGE_SIZE, 77, "size type 77" },
	};

	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);

		client_load(&modes[mode]);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			uint32_t id;

			fake_set(cases[i].knob, cases[i].value);
			CHECK_EQ(core_register(va, SIZE, &id), 0);
			if (!test_log_has(cases[i].log))
				test_fail(__FILE__, __LINE__, "mode %d, case %zu: the Linux log lacks: %s", mode, i,
					  cases[i].log);
			check_nothing_is_held();
			fake_reset();
		}
		check_recovered(va);
		client_unload();
		fake_free(va);
	}
}

TEST(both_major_versions_of_tables_are_supported)
{
	static const uint64_t versions[] = { 0x00010002, 0x00010003, 0x00020000, 0x00020001 };

	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);

		client_load(&modes[mode]);
		for (int i = 0; i < 4; i++) {
			fake_set(FAKE_P2P_TABLE_VERSION, versions[i]);
			check_recovered(va);
		}
		client_unload();
		fake_free(va);
	}
}

TEST(invalid_mappings_are_rejected)
{
	static const struct {
		enum fake_p2p_knob knob;
		uint64_t value;
		int result;
		const char *log;
	} cases[] = {
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_NO_TABLE, -EIO, "returned no mapping" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_NO_PAGES, -EINVAL, "mapped 5 pages" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_NO_ENTRIES, -EINVAL, "mapped 0 pages" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_ONE_SHORT, -EINVAL, "mapped 4 pages" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_ONE_LONG, -EINVAL, "mapped 6 pages" },
		{ FAKE_P2P_MAPPING_DAMAGE, FAKE_P2P_MISALIGNED, -EINVAL, "address 4 of 5" },
		{ FAKE_P2P_MAPPING_VERSION, 0x00010003, -EINVAL, "version 0x10003" },
		{ FAKE_P2P_MAPPING_VERSION, 0x00030000, -EINVAL, "version 0x30000" },
	};

	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);

		client_load(&modes[mode]);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			uint32_t id;

			fake_set(cases[i].knob, cases[i].value);
			CHECK_EQ((unsigned int)core_register(va, SIZE, &id), (unsigned int)cases[i].result);
			if (!test_log_has(cases[i].log))
				test_fail(__FILE__, __LINE__, "mode %d, case %zu: the Linux log lacks: %s", mode, i,
					  cases[i].log);
			check_nothing_is_held();
			fake_reset();
		}
		check_recovered(va);
		client_unload();
		fake_free(va);
	}
}

TEST(pin_without_a_table_is_an_error)
{
	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
		uint32_t id;

		client_load(&modes[mode]);
		fake_set(FAKE_P2P_DAMAGE, FAKE_P2P_NO_TABLE);
		CHECK_EQ(core_register(va, SIZE, &id), -EIO);
		CHECK(test_log_has("returned no page table"));
		check_nothing_is_held();
		client_unload();
		fake_free(va);
	}
}

TEST(failures_of_the_core_leak_nothing)
{
	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);

		client_load(&modes[mode]);
		for (int point = 0; point < FAKE_CORE_POINTS; point++) {
			uint32_t id;

			core_fail(point, 1);
			CHECK_EQ(core_register(va, SIZE, &id), -ENOMEM);
			check_nothing_is_held();
		}
		check_recovered(va);
		client_unload();
		fake_free(va);
	}
}

TEST(non_pci_adapters_are_rejected)
{
	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
		uint32_t id;

		client_load(&modes[mode]);
		core_set(FAKE_CORE_NOT_PCI, 1);
		CHECK_EQ(core_register(va, SIZE, &id), -EINVAL);
		CHECK(test_log_has("not a PCI device"));
		CHECK_EQ(fake_report().maps, 0);
		check_nothing_is_held();
		client_unload();
		fake_free(va);
	}
}
