/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The handles of one session: ranges of host pages that do not overlap, for a handle is also the page at which its
 * mapping begins in the session's address space for mmap. Given out in a circle, so that a stale handle names nothing
 * for as long as possible; a range comes free when nobody can still use it, VMAs included.
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
	u64 next;	       /* where the search for room begins */
	u64 limit;
};

void gdrdrv_handles_init(struct gdrdrv_handle_table *table, u64 limit);

/* Gives `range` room for `pages` handles, not visible yet. 0 or -ENOMEM. */
int gdrdrv_handles_reserve(struct gdrdrv_handle_table *table, struct gdrdrv_range *range, u64 pages);

void gdrdrv_handles_release(struct gdrdrv_handle_table *table, struct gdrdrv_range *range);

/* With table->lock held: the visible range that begins at `handle`, or NULL. */
struct gdrdrv_range *gdrdrv_handles_find(struct gdrdrv_handle_table *table, u64 handle);

/* With table->lock held: any visible range, or NULL. */
struct gdrdrv_range *gdrdrv_handles_any(struct gdrdrv_handle_table *table);

#endif
