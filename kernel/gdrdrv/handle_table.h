/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The handles of one session: disjoint ranges of host pages. A handle is also the page offset of its mapping in the
 * session's address space. Allocation is cyclic, so that a stale handle stays invalid as long as possible. A range is
 * released after its last user, VMAs included.
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
	bool is_visible; /* to lookups */
};

struct gdrdrv_handle_table {
	struct mutex lock;
	struct rb_root ranges; /* ordered by `first`; they are disjoint, so also by their ends */
	u64 next;	       /* start of the next search */
	u64 limit;
};

void gdrdrv_handles_init(struct gdrdrv_handle_table *table, u64 limit);

/* Reserves `pages` handles for `range`, not visible yet. Returns 0 or -ENOMEM. */
int gdrdrv_handles_reserve(struct gdrdrv_handle_table *table, struct gdrdrv_range *range, u64 pages);

void gdrdrv_handles_release(struct gdrdrv_handle_table *table, struct gdrdrv_range *range);

/* Returns the visible range that begins at `handle`, or NULL. The caller holds table->lock. */
struct gdrdrv_range *gdrdrv_handles_find(struct gdrdrv_handle_table *table, u64 handle);

/* Returns any visible range, or NULL. The caller holds table->lock. */
struct gdrdrv_range *gdrdrv_handles_any(struct gdrdrv_handle_table *table);

#endif
