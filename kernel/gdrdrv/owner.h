/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The process that opened a session, and its pinned bytes over all of its sessions. */
#ifndef GDRDRV_OWNER_H
#define GDRDRV_OWNER_H

#include <linux/types.h>

struct gdrdrv_owner;
struct seq_file;

/* The owner of the calling process, new or known, with a reference; NULL if out of memory. */
struct gdrdrv_owner *gdrdrv_owner_get_current(void);
struct gdrdrv_owner *gdrdrv_owner_get(struct gdrdrv_owner *owner);
void gdrdrv_owner_put(struct gdrdrv_owner *owner);

bool gdrdrv_owner_is_current(const struct gdrdrv_owner *owner);

/* 0, or -ENOMEM if `bytes` more would exceed the limit on pinned bytes. */
int gdrdrv_owner_charge(struct gdrdrv_owner *owner, u64 bytes);
void gdrdrv_owner_uncharge(struct gdrdrv_owner *owner, u64 bytes);

/* Pins that the provider currently has for us, over all owners. */
u64 gdrdrv_owner_total_pins(void);

/* One line for each owner. */
int gdrdrv_owner_show_all(struct seq_file *file, void *data);

#endif
