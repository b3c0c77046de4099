/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Stands between the libraries and the module, by being the ioctl that they call: lets the module look like an older
 * one, which does not know the newer requests, and notes what was asked. For one thread.
 */
#ifndef GDRKIT_KERNEL_OLD_MODULE_H
#define GDRKIT_KERNEL_OLD_MODULE_H

#include <stdbool.h>

/* 2 << 16 | minor; 0: the module as it is. Forgets what was asked. */
void old_module_pretend(unsigned int version);
bool old_module_was_asked(unsigned int number); /* 1 to 8, 255 */
unsigned int old_module_refusals(void);		/* requests that the pretended version does not know */

#endif
