/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* One open file of /dev/gdrdrv. */
#ifndef GDRDRV_SESSION_H
#define GDRDRV_SESSION_H

#include <linux/fs.h>

#include "handle_table.h"

struct gdrdrv_owner;

struct gdrdrv_session {
	struct gdrdrv_owner *owner;
	struct gdrdrv_handle_table handles;
	/* Per session: all sessions use the same offsets, and a zap must not affect another session's mapping. */
	struct address_space mapping;
};

/* Requests of user programs, defined in gdrdrv_abi.h. */
long gdrdrv_ioctl(struct file *file, unsigned int number, unsigned long argument);

#endif
