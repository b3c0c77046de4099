/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The fake provider, asked through its control node. A call that the provider refuses fails the test. The node is opened
 * at first use; children made by fork share it with their parent, and what it allocated goes when the last one closes it.
 */
#ifndef GDRKIT_KERNEL_FAKE_H
#define GDRKIT_KERNEL_FAKE_H

#include <stddef.h>
#include <stdint.h>

#include "../../fake_p2p/fake_p2p_ioctl.h"

uint64_t fake_alloc(uint64_t size, enum fake_p2p_layout layout);
void fake_free(uint64_t va); /* callbacks of live pins have run when it returns */
void fake_close(void); /* frees all, as the end of a process does */
void fake_write(uint64_t va, const void *from, size_t size); /* cudaMemcpy */
void fake_read(uint64_t va, void *to, size_t size);
uint64_t fake_physical(uint64_t va);
void fake_set(enum fake_p2p_knob knob, uint64_t value);
void fake_fail(enum fake_p2p_call call, uint64_t nth, int error); /* nth 1: the next call; 0: disarm */
void fake_pause(enum fake_p2p_step step); /* the next call to pass there waits */
void fake_await(enum fake_p2p_step step); /* until a call does; fails the test after 10 s */
void fake_resume(enum fake_p2p_step step);
struct fake_p2p_report fake_report(void);

/* For the runner: defaults before a test, and what a test left behind (NULL: nothing). Both do nothing without a node. */
void fake_forget(void);
const char *fake_complaint(void);

#endif
