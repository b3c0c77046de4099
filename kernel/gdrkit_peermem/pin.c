// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pinning GPU memory, ending a pin, and the driver's callback that revokes it.
#define pr_fmt(fmt) "gdrkit_peermem: " fmt

#include <linux/jiffies.h>
#include <linux/printk.h>

#include "core.h"
#include "left_behind.h"
#include "p2p_drain.h"
#include "p2p_lock.h"
#include "p2p_table.h"
#include "pages.h"
#include "pin.h"
#include "registration.h"

/* See wait_for_mapping(). Long compared with the awaited call, and short compared with what a user notices. */
#define LONGEST_WAIT (HZ / 10)

/*
 * Rejects a table that does not describe exactly the requested pages. Reads nothing but the version of an unknown
 * table.
 */
static int check_table(const struct peermem_registration *registration, const struct nvidia_p2p_page_table *table)
{
	unsigned int i;

	if (!gdrkit_p2p_table_is_known(table)) {
		pr_err_ratelimited("the driver's page tables have version 0x%x, which this module does not support: update gdrkit\n",
				   table->version);
		return -EINVAL;
	}
	if (table->page_size != NVIDIA_P2P_PAGE_SIZE_64KB) {
		pr_err_ratelimited("the driver pinned in pages of size type %u, only 64 KiB is supported\n", table->page_size);
		return -EINVAL;
	}
	if (table->entries != registration->page_count || !table->pages) {
		pr_err_ratelimited("the driver pinned %u pages where %u were requested\n", table->entries,
				   registration->page_count);
		return -EINVAL;
	}
	for (i = 0; i < table->entries; i++) {
		if (!table->pages[i] || !IS_ALIGNED(table->pages[i]->physical_address, PEERMEM_PAGE_SIZE)) {
			pr_err_ratelimited("page %u of %u in the driver's table is missing or not on a 64 KiB boundary\n",
					   i, table->entries);
			return -EINVAL;
		}
	}
	return 0;
}

/*
 * A thread inside the driver's dma_map_pages still uses the table, and the driver does not protect it there. Therefore
 * wait until it leaves, but not forever: it may be waiting for the very locks under which the callback runs.
 */
static void wait_for_mapping(struct peermem_registration *registration)
{
	wait_event_timeout(registration->mapped, !READ_ONCE(registration->is_mapping), LONGEST_WAIT);
}

/* The driver's callback; registration.h explains the order of its steps. */
static void revoked(void *data)
{
	struct peermem_registration *registration = data;
	struct nvidia_p2p_dma_mapping *mapping;
	struct nvidia_p2p_page_table *table;
	gdrkit_core_context core_context;
	bool is_shown;

	mutex_lock(&registration->lock);
	registration->is_revoked = true;
	is_shown = registration->is_shown;
	core_context = registration->core_context;
	mapping = registration->mapping;
	table = registration->table;
	mutex_unlock(&registration->lock);

	/* The core may call dma_unmap, put_pages and release in this very thread. */
	if (is_shown)
		peermem_tell_core(core_context);
	else
		wait_for_mapping(registration);
	if (mapping)
		nvidia_p2p_free_dma_mapping(mapping);
	if (table)
		nvidia_p2p_free_page_table(table);
	/* A thread that has taken it from the list sees is_revoked, and holds its own reference. */
	peermem_forget_left_behind(registration);
	peermem_put(registration);
}

static int get_pages(struct peermem_registration *registration, struct nvidia_p2p_page_table **table)
{
	int error;

	*table = NULL;
	if (registration->is_persistent)
		return nvidia_p2p_get_pages_persistent(registration->start, registration->length, table,
						       NVIDIA_P2P_FLAGS_DEFAULT);
	gdrkit_p2p_lock();
	error = nvidia_p2p_get_pages(0, 0, registration->start, registration->length, table, revoked, registration);
	gdrkit_p2p_unlock();
	return error;
}

int peermem_pin(struct peermem_registration *registration)
{
	struct nvidia_p2p_page_table *table;
	int error;

	kref_get(&registration->references); /* for the callback, which may run before get_pages returns */
	error = get_pages(registration, &table);
	if (!error && !table) {
		/* Nothing can be put, so this can only mean that nothing is pinned. */
		pr_err_ratelimited("the driver reported success for pinning memory and returned no table\n");
		error = -EIO;
	}
	if (error) {
		peermem_put(registration);
		return error;
	}
	mutex_lock(&registration->lock);
	if (registration->is_revoked) {
		error = -EFAULT; /* the table may already be freed; the callback drops the reference */
	} else {
		registration->table = table;
		error = check_table(registration, table);
	}
	mutex_unlock(&registration->lock);
	if (error)
		peermem_unpin(registration);
	return error;
}

/*
 * Releases the pages, unless the callback has taken them or is about to: then the driver releases them when the
 * callback returns. No lock is taken for that, because this may be the callback's thread. Pages that the driver keeps,
 * or that this process cannot release, stay until the callback; it needs the registration, and then drops the pin's
 * reference.
 */
void peermem_unpin(struct peermem_registration *registration)
{
	bool has_pages;

	mutex_lock(&registration->lock);
	has_pages = !registration->is_over && registration->table && !registration->is_revoked;
	registration->is_over = true;
	mutex_unlock(&registration->lock);
	if (!has_pages)
		return;
	if (registration->is_persistent)
		peermem_give_back_persistent(registration);
	else if (!gdrkit_process_is_current(&registration->process) || !peermem_give_back(registration))
		peermem_leave_behind(registration);
}

void peermem_drain(void)
{
	if (!peermem_persistent)
		gdrkit_p2p_drain();
}
