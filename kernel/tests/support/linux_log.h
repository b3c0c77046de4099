/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The log of Linux, from a mark on. */
#ifndef GDRKIT_KERNEL_LINUX_LOG_H
#define GDRKIT_KERNEL_LINUX_LOG_H

#include <stdbool.h>

bool linux_log_open(void);
void linux_log_mark(void);
/* The first line since the mark that a correct module does not cause; NULL if none. Valid until the next call. */
const char *linux_log_complaint(void);

#endif
