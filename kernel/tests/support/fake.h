/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The fake provider through its control node. A call that the provider refuses fails the test. The node is opened at
 * first use; forked children share it with their parent, and its allocations are freed when the last one closes it.
 */
#ifndef GDRKIT_KERNEL_FAKE_H
#define GDRKIT_KERNEL_FAKE_H

#include <stddef.h>
#include <stdint.h>

#include "../../fake_p2p/fake_p2p_ioctl.h"

uint64_t fake_alloc(uint64_t size, enum fake_p2p_layout layout);
void fake_free(uint64_t va); /* callbacks of live pins have run on return */
void fake_close(void); /* frees everything, like the end of a process */
void fake_write(uint64_t va, const void *from, size_t size); /* cudaMemcpy */
void fake_read(uint64_t va, void *to, size_t size);
uint64_t fake_physical(uint64_t va);
void fake_set(enum fake_p2p_knob knob, uint64_t value);
void fake_fail(enum fake_p2p_call call, uint64_t nth, int error); /* nth 1: the next call; 0: disarm */
void fake_pause(enum fake_p2p_step step); /* the next call that reaches the step waits */
void fake_await(enum fake_p2p_step step); /* waits for such a call; fails the test after 10 s */
void fake_resume(enum fake_p2p_step step);
struct fake_p2p_report fake_report(void);

/* For the runner: defaults before a test, and the leaks of a test (NULL: none). Both do nothing without a node. */
void fake_forget(void);
const char *fake_complaint(void);

#endif
