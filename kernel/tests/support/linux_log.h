/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The Linux log since a mark. */
#ifndef GDRKIT_KERNEL_LINUX_LOG_H
#define GDRKIT_KERNEL_LINUX_LOG_H

#include <stdbool.h>

bool linux_log_open(void);
void linux_log_mark(void);
/* The first line since the mark that fails a test, or NULL. Valid until the next call. */
const char *linux_log_problem(void);

#endif
