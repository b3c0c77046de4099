/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The handles of one session: ranges of host pages that do not overlap, because a handle is also the page at which its
 * mapping begins in the session's address space for mmap. Handles are allocated cyclically, so that a stale handle
 * stays invalid as long as possible. A range becomes free when it has no users left, including VMAs.
 */
#ifndef GDRDRV_HANDLE_TABLE_H
#define GDRDRV_HANDLE_TABLE_H

#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/types.h>

struct gdrdrv_range {
	struct rb_node node;
	u64 first; /* the handle */
	u64 pages;
	bool is_visible; /* to look-ups */
};

struct gdrdrv_handle_table {
	struct mutex lock;
	struct rb_root ranges; /* by `first`, and thereby by their ends */
	u64 next;	       /* where the search for free space begins */
	u64 limit;
};

void gdrdrv_handles_init(struct gdrdrv_handle_table *table, u64 limit);

/* Reserves `pages` handles for `range`, not visible yet. 0 or -ENOMEM. */
int gdrdrv_handles_reserve(struct gdrdrv_handle_table *table, struct gdrdrv_range *range, u64 pages);

void gdrdrv_handles_release(struct gdrdrv_handle_table *table, struct gdrdrv_range *range);

/* With table->lock held: the visible range that begins at `handle`, or NULL. */
struct gdrdrv_range *gdrdrv_handles_find(struct gdrdrv_handle_table *table, u64 handle);

/* With table->lock held: any visible range, or NULL. */
struct gdrdrv_range *gdrdrv_handles_any(struct gdrdrv_handle_table *table);

#endif
