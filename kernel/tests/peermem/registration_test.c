// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registrations without failures: the adapter's addresses, and leaks.
#include <signal.h>

#include "../support/rdma_core.h"

#define SIZE (9 * FAKE_P2P_PAGE)

static const struct {
	uint64_t offset;
	uint64_t size;
} ranges[] = {
	{ 0, FAKE_P2P_PAGE }, { 0, SIZE },	 { 100, 150000 },	     { FAKE_P2P_PAGE - 1, 2 },
	{ 4096, 4096 },	      { SIZE - 1, 1 },	 { FAKE_P2P_PAGE + 4095, 3 }, { 8192, SIZE - 8192 },
};

TEST_ALL_MODES(adapter_reaches_the_memory)
{
	for (int layout = 0; layout < FAKE_P2P_LAYOUTS; layout++) {
		uint64_t start = fake_alloc(SIZE, layout);

		for (size_t i = 0; i < COUNT(ranges); i++)
			check_registration(start + ranges[i].offset, ranges[i].size);
	}
}

TEST_ALL_MODES(registration_can_end_after_every_step)
{
	for (int steps = FAKE_CORE_GET_PAGES; steps <= FAKE_CORE_STOP; steps++) {
		uint32_t id = core_registration(va + 5, SIZE - 5, steps);

		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
		CHECK_EQ(provider_pins(), 0);
	}
}

TEST_MODES(each_single_step_releases_its_part, PERSISTENT, PERSISTENT)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	CHECK_EQ(fake_report().mappings, 1);
	CHECK_EQ(core_step(FAKE_CORE_STOP, id), 0);
	check_reaches_nothing(id);
	CHECK_EQ(core_step(FAKE_CORE_DMA_UNMAP, id), 0);
	CHECK_EQ(fake_report().mappings, 0);
	CHECK_EQ(fake_report().persistent_pins, 1);
	CHECK_EQ(core_step(FAKE_CORE_PUT_PAGES, id), 0);
	CHECK_EQ(fake_report().persistent_pins, 0);
	CHECK_EQ(core_step(FAKE_CORE_RELEASE, id), 0);
}

TEST_ALL_MODES(two_registrations_of_one_range_are_independent)
{
	struct place place = place_of(va, SIZE);
	uint32_t first = core_registration(va, SIZE, FAKE_CORE_STOP);
	uint32_t second = core_registration(va, SIZE, FAKE_CORE_STOP);

	CHECK_EQ(fake_report().gets, 2); /* each is pinned once */
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, first), 0);
	check_reaches(second, &place);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, second), 0);
}

TEST_ALL_MODES(memory_that_is_not_the_gpus_is_not_accepted)
{
	uint32_t id;

	CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
	CHECK_EQ(core_acquire(0, 4096, &id), 0);
	CHECK_EQ(core_acquire(va, 0, &id), 0);
	CHECK_EQ(core_acquire(va, SIZE + 1, &id), 0);
	CHECK_EQ(core_acquire(va, ~0ULL, &id), 0);
	CHECK_EQ(core_acquire(~0ULL - 5, 4, &id), 0);
	CHECK_EQ(core_acquire(~0ULL - 5, 400, &id), 0);
	CHECK_EQ(core_acquire(1, 1ULL << 62, &id), 0);
	CHECK_EQ(provider_pins(), 0);
}

TEST_MODES(persistent_memory_stays_until_it_is_deregistered, PERSISTENT, PERSISTENT)
{
	uint64_t other;
	struct place place = place_of(va, SIZE);
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_STOP);

	fake_free(va);
	check_reaches(id, &place);
	CHECK_EQ(fake_report().used_pages, SIZE / FAKE_P2P_PAGE);
	other = fake_alloc(SIZE, FAKE_P2P_RUNS);
	for (uint64_t at = 0; at < SIZE; at += FAKE_P2P_PAGE) {
		for (size_t page = 0; page < place.count; page++)
			CHECK(fake_physical(other + at) + FAKE_P2P_DMA_OFFSET != place.pages[page]);
	}
	fake_free(other);
	CHECK_EQ(core_report().invalidations, 0);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK_EQ(fake_report().used_pages, 0);
}

TEST_ALL_MODES(client_in_use_cannot_be_unloaded)
{
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_GET_PAGES);

	CHECK_EQ(module_unload(CLIENT), EWOULDBLOCK);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
}

/* Kills a child after each step, with either node closed first. */
static void die_after(int steps, bool is_core_first)
{
	pid_t child = fork();

	if (child == 0) {
		if (is_core_first)
			core_report();
		core_registration(fake_alloc(SIZE, FAKE_P2P_RUNS), SIZE, steps);
		raise(SIGKILL);
	}
	CHECK_EQ(wait_for(child), SIGKILL);
}

TEST_ALL_MODES(killed_processes_leak_nothing)
{
	/* So that each child opens its own nodes. */
	fake_close();
	core_close();
	for (int steps = FAKE_CORE_GET_PAGES; steps <= FAKE_CORE_STOP; steps++) {
		/* No process can die between dma_map and activate: a real core does both in one call. */
		if (steps == FAKE_CORE_ACTIVATE)
			continue;
		die_after(steps, true);
		die_after(steps, false);
	}
	CHECK_EQ(fake_report().allocations, 0);
	CHECK_EQ(provider_pins(), 0);
}
