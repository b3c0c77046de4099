// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Cost of a registration by size: measurements without limits, because the machine is emulated.
#include <stdlib.h>

#include "../support/rdma_core.h"

#define ROUNDS 9

static int by_value(const void *left, const void *right)
{
	long difference = *(const long *)left - *(const long *)right;

	return difference < 0 ? -1 : difference > 0;
}

static void measure(const struct mode *mode, uint64_t pages)
{
	uint64_t va = fake_alloc(pages * FAKE_P2P_PAGE, FAKE_P2P_RUNS);
	struct place place = place_of(va, pages * FAKE_P2P_PAGE);
	long begin[ROUNDS], end[ROUNDS];
	uint32_t id;

	for (int i = 0; i < ROUNDS; i++) {
		long start = test_now_ns(), middle;

		CHECK_EQ(core_register(va, pages * FAKE_P2P_PAGE, &id), 1);
		begin[i] = test_now_ns() - start;
		if (i == 0)
			check_reaches(id, &place);
		middle = test_now_ns();
		CHECK_EQ(core_step(FAKE_CORE_DEREGISTER, id), 0);
		end[i] = test_now_ns() - middle;
	}
	qsort(begin, ROUNDS, sizeof(begin[0]), by_value);
	qsort(end, ROUNDS, sizeof(end[0]), by_value);
	test_note("%s: %llu pages of 64 KiB: register %ld us, deregister %ld us (median of %d, both fakes included)",
		  mode->parameters, (unsigned long long)pages, begin[ROUNDS / 2] / 1000, end[ROUNDS / 2] / 1000, ROUNDS);
	free(place.pages);
	fake_free(va);
}

TEST_LONG(cost_of_a_registration_by_size, 240)
{
	test_skip_on_checked();
	for (int mode = 0; mode < MODES; mode++) {
		client_load(&modes[mode]);
		for (uint64_t pages = 1; pages <= 16384; pages *= 16 / (pages == 4096 ? 4 : 1))
			measure(&modes[mode], pages);
		client_unload();
	}
}
