/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Intercepts the ioctls between the libraries and the module: makes the module look like an older one, which rejects
 * newer requests, and records the requests. For one thread.
 */
#ifndef GDRKIT_KERNEL_OLD_MODULE_H
#define GDRKIT_KERNEL_OLD_MODULE_H

#include <stdbool.h>

/* 2 << 16 | minor; 0: the module as it is. Clears the records. */
void old_module_pretend(unsigned int version);
bool old_module_received(unsigned int number); /* 1 to 8, 255 */
unsigned int old_module_refusals(void);		/* requests that the pretended version does not support */

#endif
