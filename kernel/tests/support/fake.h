/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The fake provider, used through its control node. A call that fails also fails the test. The node is opened at first
 * use. Children made by fork share it with their parent; its allocations are freed when the last process closes it.
 */
#ifndef GDRKIT_KERNEL_FAKE_H
#define GDRKIT_KERNEL_FAKE_H

#include <stddef.h>
#include <stdint.h>

#include "../../fake_p2p/fake_p2p_ioctl.h"
#include "test.h"

uint64_t fake_alloc(uint64_t size, enum fake_p2p_layout layout);
void fake_free(uint64_t va); /* returns after the callbacks of live pins */
void fake_close(void); /* frees all allocations, as process exit does */
void fake_write(uint64_t va, const void *from, size_t size); /* replaces cudaMemcpy */
void fake_read(uint64_t va, void *to, size_t size);
/* Fills bytes that differ from their neighbors and from those of another seed. */
void bytes_fill(unsigned char *bytes, size_t size, unsigned int seed);
/* Fails the test and reports the first difference unless the bytes are those of `seed`. */
void bytes_check(const volatile unsigned char *bytes, size_t size, unsigned int seed);
/* The same for GPU memory: allocates and fills it, or checks it. */
uint64_t fake_alloc_filled(uint64_t size, enum fake_p2p_layout layout, unsigned int seed);
void fake_check(uint64_t va, size_t size, unsigned int seed);
uint64_t fake_physical(uint64_t va);
void fake_set(enum fake_p2p_knob knob, uint64_t value);
void fake_fail(enum fake_p2p_call call, uint64_t nth, int error); /* nth 1: the next call; 0: disarm */
void fake_pause(enum fake_p2p_step step); /* pauses the next call at this step */
void fake_await(enum fake_p2p_step step); /* waits for the paused call; fails the test after 10 s */
void fake_resume(enum fake_p2p_step step);
/* Starts a thread, and returns once one of its calls is paused at this step. */
void thread_start_paused(struct thread *thread, enum fake_p2p_step step, void (*body)(void *argument), void *argument);
struct fake_p2p_report fake_report(void);
uint64_t provider_pins(void); /* of both kinds */

/* For the runner; both do nothing without a node. */
void fake_reset(void); /* restores the defaults */
const char *fake_problem(void); /* leaks and client errors of a test; NULL if there are none */

#endif
