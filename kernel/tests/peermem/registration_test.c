// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registrations without failures: the adapter's addresses, and leaks.
#include "../support/test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/module.h"
#include "../support/rdma_core.h"

#define SIZE (9 * FAKE_P2P_PAGE)

static const struct {
	uint64_t offset;
	uint64_t size;
} ranges[] = {
	{ 0, FAKE_P2P_PAGE }, { 0, SIZE },	 { 100, 150000 },	     { FAKE_P2P_PAGE - 1, 2 },
	{ 4096, 4096 },	      { SIZE - 1, 1 },	 { FAKE_P2P_PAGE + 4095, 3 }, { 8192, SIZE - 8192 },
};

static void check_range(uint64_t address, uint64_t size)
{
	struct place place = place_of(address, size);
	uint32_t id;

	CHECK_EQ(core_register(address, size, &id), 1);
	check_reaches(id, &place);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK(!core_has(id));
	CHECK_EQ(fake_report().pins + fake_report().persistent_pins, 0);
	free(place.pages);
}

static void check_mode(const struct mode *mode)
{
	client_load(mode);
	for (int layout = 0; layout < FAKE_P2P_LAYOUTS; layout++) {
		uint64_t va = fake_alloc(SIZE, layout);

		for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
			check_range(va + ranges[i].offset, ranges[i].size);
		fake_free(va);
	}
	client_unload();
}

TEST(adapter_reaches_the_memory_persistent) { check_mode(PERSISTENT); }
TEST(adapter_reaches_the_memory_unmapping) { check_mode(UNMAPPING); }
TEST(adapter_reaches_the_memory_legacy) { check_mode(LEGACY); }

TEST(registration_can_end_after_every_step)
{
	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);

		client_load(&modes[mode]);
		for (int steps = FAKE_CORE_GET_PAGES; steps <= FAKE_CORE_STOP; steps++) {
			uint32_t id = core_registration(va + 5, SIZE - 5, steps);

			CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
			CHECK_EQ(fake_report().pins + fake_report().persistent_pins, 0);
		}
		client_unload();
		fake_free(va);
	}
}

TEST(each_single_step_releases_its_part)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_REVERSED);
	uint32_t id;

	client_load(PERSISTENT);
	id = core_registration(va, SIZE, FAKE_CORE_STOP);
	CHECK_EQ(fake_report().mappings, 1);
	CHECK_EQ(core_step(FAKE_CORE_STOP, id), 0);
	check_reaches_nothing(id);
	CHECK_EQ(core_step(FAKE_CORE_DMA_UNMAP, id), 0);
	CHECK_EQ(fake_report().mappings, 0);
	CHECK_EQ(fake_report().persistent_pins, 1);
	CHECK_EQ(core_step(FAKE_CORE_PUT_PAGES, id), 0);
	CHECK_EQ(fake_report().persistent_pins, 0);
	CHECK_EQ(core_step(FAKE_CORE_RELEASE, id), 0);
	client_unload();
	fake_free(va);
}

TEST(pages_are_pinned_once)
{
	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);

		client_load(&modes[mode]);
		core_step(FAKE_CORE_DEREGISTER, core_registration(va, SIZE, FAKE_CORE_STOP));
		CHECK_EQ(fake_report().gets, 1);
		client_unload();
		fake_free(va);
	}
}

TEST(two_registrations_of_one_range_are_independent)
{
	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
		struct place place = place_of(va, SIZE);
		uint32_t first, second;

		client_load(&modes[mode]);
		first = core_registration(va, SIZE, FAKE_CORE_STOP);
		second = core_registration(va, SIZE, FAKE_CORE_STOP);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, first), 0);
		check_reaches(second, &place);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, second), 0);
		client_unload();
		fake_free(va);
		free(place.pages);
	}
}

TEST(memory_that_is_not_the_gpus_is_not_accepted)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	uint32_t id;

	for (int mode = 0; mode < MODES; mode++) {
		client_load(&modes[mode]);
		CHECK_EQ(core_acquire((uintptr_t)&id, sizeof(id), &id), 0);
		CHECK_EQ(core_acquire(0, 4096, &id), 0);
		CHECK_EQ(core_acquire(va, 0, &id), 0);
		CHECK_EQ(core_acquire(va, SIZE + 1, &id), 0);
		CHECK_EQ(core_acquire(va, ~0ULL, &id), 0);
		CHECK_EQ(core_acquire(~0ULL - 5, 4, &id), 0);
		CHECK_EQ(core_acquire(~0ULL - 5, 400, &id), 0);
		CHECK_EQ(core_acquire(1, 1ULL << 62, &id), 0);
		CHECK_EQ(fake_report().pins + fake_report().persistent_pins, 0);
		client_unload();
	}
	fake_free(va);
}

TEST(persistent_memory_stays_until_it_is_deregistered)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS), other;
	struct place place = place_of(va, SIZE);
	uint32_t id;

	client_load(PERSISTENT);
	id = core_registration(va, SIZE, FAKE_CORE_STOP);
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
	client_unload();
}

TEST(client_in_use_cannot_be_unloaded)
{
	for (int mode = 0; mode < MODES; mode++) {
		uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
		uint32_t id;

		client_load(&modes[mode]);
		id = core_registration(va, SIZE, FAKE_CORE_GET_PAGES);
		CHECK_EQ(module_unload(CLIENT), EWOULDBLOCK);
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
		client_unload();
		fake_free(va);
	}
}

/* Kills a child after each step, with either node closed first. */
static void die_after(int steps, bool is_core_first)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (is_core_first)
			core_report();
		core_registration(fake_alloc(SIZE, FAKE_P2P_RUNS), SIZE, steps);
		raise(SIGKILL);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(killed_processes_leak_nothing)
{
	for (int mode = 0; mode < MODES; mode++) {
		client_load(&modes[mode]);
		core_close(); /* so that each child opens its own node */
		for (int steps = FAKE_CORE_GET_PAGES; steps <= FAKE_CORE_STOP; steps++) {
			/* No process can die between dma_map and activate: a real core does both in one call. */
			if (steps == FAKE_CORE_ACTIVATE)
				continue;
			die_after(steps, true);
			die_after(steps, false);
		}
		CHECK_EQ(fake_report().allocations, 0);
		CHECK_EQ(fake_report().pins + fake_report().persistent_pins, 0);
		client_unload();
		fake_close();
	}
}
