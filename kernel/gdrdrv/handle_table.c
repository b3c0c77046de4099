// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "handle_table.h"

#include <linux/errno.h>
#include <linux/lockdep.h>

static struct gdrdrv_range *range_of(struct rb_node *node)
{
	return rb_entry_safe(node, struct gdrdrv_range, node);
}

/* The lowest range that ends after `page`. */
static struct gdrdrv_range *first_that_ends_after(struct gdrdrv_handle_table *table, u64 page)
{
	struct rb_node *node = table->ranges.rb_node;
	struct gdrdrv_range *best = NULL;

	while (node) {
		struct gdrdrv_range *range = range_of(node);

		if (range->first + range->pages > page) {
			best = range;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return best;
}

static bool find_room(struct gdrdrv_handle_table *table, u64 from, u64 pages, u64 *found)
{
	struct gdrdrv_range *next = first_that_ends_after(table, from);
	u64 at = from;

	for (; next && next->first < at + pages; next = range_of(rb_next(&next->node)))
		at = next->first + next->pages;
	*found = at;
	return at + pages <= table->limit;
}

static void insert(struct gdrdrv_handle_table *table, struct gdrdrv_range *range)
{
	struct rb_node **link = &table->ranges.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = range->first < range_of(parent)->first ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&range->node, parent, link);
	rb_insert_color(&range->node, &table->ranges);
}

void gdrdrv_handles_init(struct gdrdrv_handle_table *table, u64 limit)
{
	mutex_init(&table->lock);
	table->ranges = RB_ROOT;
	table->next = 0;
	table->limit = limit;
}

int gdrdrv_handles_reserve(struct gdrdrv_handle_table *table, struct gdrdrv_range *range, u64 pages)
{
	int result = -ENOMEM;

	/* This bound keeps the sums below from overflowing. */
	if (pages == 0 || pages > table->limit)
		return -ENOMEM;
	mutex_lock(&table->lock);
	if (find_room(table, table->next, pages, &range->first) || find_room(table, 0, pages, &range->first)) {
		range->pages = pages;
		range->is_visible = false;
		insert(table, range);
		table->next = range->first + pages;
		result = 0;
	}
	mutex_unlock(&table->lock);
	return result;
}

void gdrdrv_handles_release(struct gdrdrv_handle_table *table, struct gdrdrv_range *range)
{
	mutex_lock(&table->lock);
	rb_erase(&range->node, &table->ranges);
	mutex_unlock(&table->lock);
}

struct gdrdrv_range *gdrdrv_handles_find(struct gdrdrv_handle_table *table, u64 handle)
{
	struct gdrdrv_range *range;

	lockdep_assert_held(&table->lock);
	/* Handles come from users: check against the limit before any addition. */
	if (handle >= table->limit)
		return NULL;
	range = first_that_ends_after(table, handle);
	return range && range->first == handle && range->is_visible ? range : NULL;
}

struct gdrdrv_range *gdrdrv_handles_any(struct gdrdrv_handle_table *table)
{
	struct rb_node *node;

	lockdep_assert_held(&table->lock);
	for (node = rb_first(&table->ranges); node; node = rb_next(node))
		if (range_of(node)->is_visible)
			return range_of(node);
	return NULL;
}
