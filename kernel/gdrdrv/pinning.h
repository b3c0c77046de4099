/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The lifetime of a pin: from a request to its end by an unpin, by its session or by the provider's callback. */
#ifndef GDRDRV_PINNING_H
#define GDRDRV_PINNING_H

#include <linux/types.h>

struct gdrdrv_session;

/* A user's request, for both forms of the ioctl. */
struct gdrdrv_pin_arguments {
	u64 address;
	u64 bytes;
	u32 flags;
};

/* Pins and returns the handle. 0 or a negative errno. */
int gdrdrv_pin_create(struct gdrdrv_session *session, const struct gdrdrv_pin_arguments *arguments, u64 *handle);

/* -EINVAL for an unknown handle; otherwise the handle becomes invalid, and the result is the provider's. */
int gdrdrv_pin_unpin(struct gdrdrv_session *session, u64 handle);
void gdrdrv_pin_unpin_all(struct gdrdrv_session *session);

#endif
