/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The process that opened a session, and what it has pinned over all of its sessions. */
#ifndef GDRDRV_OWNER_H
#define GDRDRV_OWNER_H

#include <linux/types.h>

struct gdrdrv_owner;
struct seq_file;

/* Returns the calling process's owner with a reference, creating it if needed, or NULL if out of memory. */
struct gdrdrv_owner *gdrdrv_owner_get_current(void);
struct gdrdrv_owner *gdrdrv_owner_get(struct gdrdrv_owner *owner);
void gdrdrv_owner_put(struct gdrdrv_owner *owner);

bool gdrdrv_owner_is_current(const struct gdrdrv_owner *owner);

/* Returns 0, or -ENOMEM if `bytes` more would exceed the limit of pinned bytes. */
int gdrdrv_owner_charge(struct gdrdrv_owner *owner, u64 bytes);
void gdrdrv_owner_uncharge(struct gdrdrv_owner *owner, u64 bytes);

/* The number of pins that the provider holds, over all owners. */
u64 gdrdrv_owner_total_pins(void);

/* Prints a header and one line per owner. */
int gdrdrv_owner_show_all(struct seq_file *file, void *data);

#endif
