/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The lifetime of a pin: from the request to an unpin, the end of its session or the provider's callback. */
#ifndef GDRDRV_PINNING_H
#define GDRDRV_PINNING_H

#include <linux/types.h>

struct gdrdrv_session;

/* The arguments of both pin requests. */
struct gdrdrv_pin_arguments {
	u64 address;
	u64 bytes;
	u32 flags;
};

/* Pins memory and stores the handle. Returns 0 or a negative errno. */
int gdrdrv_pin_create(struct gdrdrv_session *session, const struct gdrdrv_pin_arguments *arguments, u64 *handle);

/* Returns -EINVAL for an invalid handle. Otherwise it invalidates the handle and returns the provider's result. */
int gdrdrv_pin_unpin(struct gdrdrv_session *session, u64 handle);
void gdrdrv_pin_unpin_all(struct gdrdrv_session *session);

#endif
