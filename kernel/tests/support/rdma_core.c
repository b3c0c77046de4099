// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "rdma_core.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CPU_PAGE 4096ULL

const struct mode modes[MODES] = {
	{ "persistent=1", true, false },
	{ "persistent=0", false, true },
	{ "persistent=0 invalidate_unmaps=0", false, false },
};

static int node = -1;

static int opened(void)
{
	if (node < 0)
		node = open(FAKE_CORE_NODE, O_RDWR | O_CLOEXEC);
	if (node < 0)
		test_fail(__FILE__, __LINE__, "cannot open %s: %s", FAKE_CORE_NODE, strerror(errno));
	return node;
}

static void control(unsigned long command, void *argument, const char *what)
{
	if (ioctl(opened(), command, argument))
		test_fail(__FILE__, __LINE__, "the fake core cannot %s: %s", what, strerror(errno));
}

void client_load(const struct mode *mode)
{
	if (module_is_loaded("nvidia_peermem"))
		CHECK_EQ(module_unload("nvidia_peermem"), 0);
	if (module_is_loaded(CLIENT))
		CHECK_EQ(module_unload(CLIENT), 0);
	if (!module_is_loaded("fake_rdma_core"))
		CHECK_EQ(module_load("fake_rdma_core", ""), 0);
	control(FAKE_CORE_IOC_RESET, NULL, "reset");
	fake_reset();
	CHECK_EQ(module_load(CLIENT, mode->parameters), 0);
	CHECK_EQ(core_report().clients, 1);
}

void client_unload(void)
{
	struct fake_core_report report = core_report();

	CHECK_EQ(report.registrations, 0);
	CHECK_EQ(report.mapped, 0);
	CHECK_EQ(report.active, 0);
	CHECK_EQ(report.mistakes, 0);
	CHECK_EQ(fake_report().mappings, 0);
	CHECK_EQ(module_unload(CLIENT), 0);
	CHECK_EQ(core_report().clients, 0);
}

void run_in_modes(const struct mode *first, const struct mode *last, uint64_t size,
		  void (*body)(const struct mode *mode, uint64_t va))
{
	for (const struct mode *mode = first; mode <= last; mode++) {
		client_load(mode);
		body(mode, fake_alloc(size, FAKE_P2P_RUNS));
		if (module_is_loaded(CLIENT))
			client_unload();
		fake_close();
	}
}

static void run_step(struct fake_core_step *step)
{
	int error = ioctl(opened(), FAKE_CORE_IOC_STEP, step) ? errno : 0;

	if (error)
		test_fail(__FILE__, __LINE__, "the fake core cannot run step %u of registration %u now: %s", step->name,
			  step->id, strerror(error));
}

int core_step(enum fake_core_step_name name, uint32_t id)
{
	struct fake_core_step step = { .name = name, .id = id };

	run_step(&step);
	return step.result;
}

static int begin(enum fake_core_step_name name, uint64_t address, uint64_t size, uint32_t *id)
{
	struct fake_core_step step = { .name = name, .address = address, .size = size };

	run_step(&step);
	*id = step.id;
	return step.result;
}

int core_acquire(uint64_t address, uint64_t size, uint32_t *id)
{
	return begin(FAKE_CORE_ACQUIRE, address, size, id);
}

int core_register(uint64_t address, uint64_t size, uint32_t *id)
{
	return begin(FAKE_CORE_REGISTER, address, size, id);
}

uint32_t core_registration(uint64_t address, uint64_t size, int count)
{
	uint32_t id;

	CHECK_EQ(core_acquire(address, size, &id), 1);
	for (int name = FAKE_CORE_GET_PAGES; name < count; name++)
		CHECK_EQ(core_step(name, id), 0);
	return id;
}

bool core_has(uint32_t id)
{
	struct fake_core_addresses request = { .id = id };

	return ioctl(opened(), FAKE_CORE_IOC_ADDRESSES, &request) == 0;
}

struct fake_core_report core_report(void)
{
	struct fake_core_report report;

	control(FAKE_CORE_IOC_REPORT, &report, "report");
	return report;
}

void core_close(void)
{
	close(opened());
	node = -1;
}

struct place place_of(uint64_t address, uint64_t size)
{
	uint64_t first = address / CPU_PAGE * CPU_PAGE;
	struct place place = { .count = (address + size - first + CPU_PAGE - 1) / CPU_PAGE };

	place.pages = malloc(place.count * sizeof(*place.pages));
	for (size_t i = 0; i < place.count; i++)
		place.pages[i] = fake_physical(first + i * CPU_PAGE) + FAKE_P2P_DMA_OFFSET;
	return place;
}

void check_reaches(uint32_t id, const struct place *place)
{
	struct fake_core_range *ranges = malloc((place->count + 1) * sizeof(*ranges));
	struct fake_core_addresses request = {
		.id = id, .capacity = (uint32_t)place->count + 1, .ranges = (uintptr_t)ranges
	};
	size_t page = 0;

	control(FAKE_CORE_IOC_ADDRESSES, &request, "report the adapter's addresses");
	CHECK(request.count > 0 && request.count <= place->count);
	for (uint32_t i = 0; i < request.count; i++) {
		for (uint64_t at = 0; at < ranges[i].size; at += CPU_PAGE, page++) {
			CHECK(page < place->count);
			CHECK_EQ(ranges[i].dma_address + at, place->pages[page]);
		}
	}
	CHECK_EQ(page, place->count);
	free(ranges);
}

void check_reaches_nothing(uint32_t id)
{
	struct fake_core_addresses request = { .id = id };

	control(FAKE_CORE_IOC_ADDRESSES, &request, "report the adapter's addresses");
	CHECK_EQ(request.count, 0);
}

void check_registration(uint64_t address, uint64_t size)
{
	struct place place = place_of(address, size);
	uint32_t id;

	CHECK_EQ(core_register(address, size, &id), 1);
	check_reaches(id, &place);
	CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
	CHECK(!core_has(id));
	CHECK_EQ(provider_pins(), 0);
	free(place.pages);
}

static void run(void *argument)
{
	struct helper *helper = argument;

	if (helper->step == FAKE_CORE_STEPS)
		fake_free(helper->address);
	else if (helper->step == FAKE_CORE_ACQUIRE)
		helper->result = core_acquire(helper->address, helper->size, &helper->id);
	else
		helper->result = core_step(helper->step, helper->id);
}

void helper_step_paused(struct helper *helper, enum fake_p2p_step moment, enum fake_core_step_name step, uint32_t id)
{
	*helper = (struct helper){ .step = step, .id = id };
	thread_start_paused(&helper->thread, moment, run, helper);
}

void helper_free_paused(struct helper *helper, enum fake_p2p_step moment, uint64_t va)
{
	*helper = (struct helper){ .step = FAKE_CORE_STEPS, .address = va };
	thread_start_paused(&helper->thread, moment, run, helper);
}

void helper_acquire(struct helper *helper, uint64_t address, uint64_t size)
{
	opened(); /* so that the thread and its parent do not both open the node */
	*helper = (struct helper){ .step = FAKE_CORE_ACQUIRE, .address = address, .size = size };
	thread_start(&helper->thread, run, helper);
}

int helper_join(struct helper *helper)
{
	thread_join(&helper->thread);
	return helper->result;
}
