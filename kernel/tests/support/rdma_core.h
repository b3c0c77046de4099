/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The fake RDMA core, used through its control node, and the client under test. A step that is invalid now fails the
 * test; otherwise functions return the client's result.
 */
#ifndef GDRKIT_KERNEL_RDMA_CORE_H
#define GDRKIT_KERNEL_RDMA_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "../../fake_rdma_core/fake_rdma_core_ioctl.h"
#include "fake.h"

#define CLIENT "gdrkit_peermem"

/* Ways to load the client. */
struct mode {
	const char *parameters;
	bool is_persistent;
	bool unmaps; /* after an invalidation the client unmaps, not the core */
};
#define MODES 3
extern const struct mode modes[MODES];
#define PERSISTENT (&modes[0])
#define UNMAPPING (&modes[1])
#define LEGACY (&modes[2])

/* Resets the counters of both fakes, and reloads the client if an earlier test left it loaded. */
void client_load(const struct mode *mode);
/* Unloads the client. Checks that nothing is left in the core and that the client made no errors. */
void client_unload(void);

/*
 * A test in each of these modes. The body gets the mode and SIZE bytes of memory. The client is loaded before it.
 * After it, the client is unloaded if it is still loaded, and all memory is freed.
 */
#define TEST_MODES(name, first, last)                                                                                  \
	static void name##_in(const struct mode *mode, uint64_t va);                                                   \
	TEST(name)                                                                                                     \
	{                                                                                                              \
		run_in_modes(first, last, SIZE, name##_in);                                                            \
	}                                                                                                              \
	static void name##_in(const struct mode *mode __attribute__((unused)), uint64_t va __attribute__((unused)))
#define TEST_ALL_MODES(name) TEST_MODES(name, PERSISTENT, LEGACY)
#define TEST_INVALIDATING(name) TEST_MODES(name, UNMAPPING, LEGACY)
void run_in_modes(const struct mode *first, const struct mode *last, uint64_t size,
		  void (*body)(const struct mode *mode, uint64_t va));

int core_step(enum fake_core_step_name name, uint32_t id);
int core_acquire(uint64_t address, uint64_t size, uint32_t *id);
int core_register(uint64_t address, uint64_t size, uint32_t *id);
/* Runs the first `count` steps, from acquire on; each must succeed. */
uint32_t core_registration(uint64_t address, uint64_t size, int count);
bool core_has(uint32_t id);
struct fake_core_report core_report(void);
void core_close(void); /* as process exit does */

/* The provider's CPU pages of a range, as DMA addresses. */
struct place {
	uint64_t *pages;
	size_t count;
};
struct place place_of(uint64_t address, uint64_t size);
void check_reaches(uint32_t id, const struct place *place);
void check_reaches_nothing(uint32_t id);
/* Registers the range, checks the adapter's addresses and deregisters it. Nothing may be left. */
void check_registration(uint64_t address, uint64_t size);

/* Runs one step, or frees memory, in a thread. Returns when the call of the thread is paused at `moment`. */
struct helper {
	struct thread thread;
	enum fake_core_step_name step;
	uint32_t id;
	uint64_t address;
	uint64_t size;
	int result;
};
void helper_step_paused(struct helper *helper, enum fake_p2p_step moment, enum fake_core_step_name step, uint32_t id);
void helper_free_paused(struct helper *helper, enum fake_p2p_step moment, uint64_t va);
void helper_acquire(struct helper *helper, uint64_t address, uint64_t size);
int helper_join(struct helper *helper);

#endif
