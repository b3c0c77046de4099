// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Both modules with revocable pins in one process: a table address may be reused from one module by the other.
#include "../support/gdrdrv.h"
#include "../support/rdma_core.h"

#define SIZE (3 * PAGE)

/* One pin is left, whose table has the address of the freed one. */
static void check_left(uint64_t va)
{
	CHECK(fake_report().tables_reused >= 1);
	CHECK_EQ(fake_report().pins, 1);
	fake_free(va);
	CHECK_EQ(fake_report().callbacks, 2);
}

TEST(unpin_does_not_release_what_is_registered_next)
{
	struct pinned pinned = pin_new(SIZE);
	uint64_t next = fake_alloc(SIZE, FAKE_P2P_RUNS);
	struct thread unpinning;
	struct helper acquiring;

	thread_start_paused(&unpinning, FAKE_P2P_PUT_ENTER, run_unpin, &pinned);
	fake_free(pinned.va);
	helper_acquire(&acquiring, next, SIZE);
	thread_ends_soon(&acquiring.thread);
	fake_resume(FAKE_P2P_PUT_ENTER);
	thread_join(&unpinning);
	CHECK_EQ(pinned.result, 0);
	CHECK_EQ(helper_join(&acquiring), 1);
	check_left(next);
	CHECK_EQ(core_step(FAKE_CORE_RELEASE, acquiring.id), 0);
}

TEST(deregistration_does_not_release_what_is_pinned_next)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS);
	struct pinned next = { .va = fake_alloc(SIZE, FAKE_P2P_RUNS), .size = SIZE, .file = open_node() };
	uint32_t id = core_registration(va, SIZE, FAKE_CORE_GET_PAGES);
	struct thread pinning;
	struct helper releasing;

	helper_step_paused(&releasing, FAKE_P2P_PUT_ENTER, FAKE_CORE_RELEASE, id);
	fake_free(va);
	thread_start(&pinning, run_pin, &next);
	thread_ends_soon(&pinning);
	fake_resume(FAKE_P2P_PUT_ENTER);
	CHECK_EQ(helper_join(&releasing), 0);
	thread_join(&pinning);
	check_left(next.va);
}
