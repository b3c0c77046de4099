/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Interposes the libraries' ioctl: makes the module look like an older one, which lacks the newer requests, and records
 * the requests. For one thread.
 */
#ifndef GDRKIT_KERNEL_OLD_MODULE_H
#define GDRKIT_KERNEL_OLD_MODULE_H

#include <stdbool.h>

/* Emulates a version, 2 << 16 | minor; 0: the real one. Clears the recorded requests. */
void old_module_emulate(unsigned int version);
bool old_module_received(unsigned int number); /* request number: 1 to 8, 255 */
unsigned int old_module_refusals(void);	       /* requests that the emulated version lacks */

#endif
