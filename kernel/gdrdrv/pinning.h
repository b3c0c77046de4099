/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The life of a pin: from a request to its end by an unpin, by its session or by the provider's callback. */
#ifndef GDRDRV_PINNING_H
#define GDRDRV_PINNING_H

#include <linux/types.h>

struct gdrdrv_session;

/* What a user asks for, both forms of the request in one. */
struct gdrdrv_pin_wish {
	u64 address;
	u64 bytes;
	u32 flags;
};

/* Pins and gives the handle. 0 or a negative errno. */
int gdrdrv_pin_create(struct gdrdrv_session *session, const struct gdrdrv_pin_wish *wish, u64 *handle);

/* -EINVAL for a handle that names no pin; otherwise the handle is gone, and the result is the provider's. */
int gdrdrv_pin_unpin(struct gdrdrv_session *session, u64 handle);
void gdrdrv_pin_unpin_all(struct gdrdrv_session *session);

#endif
