// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pinning GPU memory, releasing a pin, and the driver's callback that revokes it.
#define pr_fmt(fmt) "gdrkit_peermem: " fmt

#include <linux/jiffies.h>
#include <linux/printk.h>

#include "core.h"
#include "p2p_drain.h"
#include "p2p_lock.h"
#include "p2p_table.h"
#include "pages.h"
#include "pin.h"
#include "registration.h"

/* See wait_for_mapping(). Much longer than a dma_map_pages call, but short for a user. */
#define MAPPING_TIMEOUT (HZ / 10)

/* Accepts only a table of exactly the requested pages. Reads nothing but the version of an unsupported table. */
static int check_table(const struct peermem_registration *registration, const struct nvidia_p2p_page_table *table)
{
	unsigned int i;

	if (!gdrkit_p2p_table_is_known(table)) {
		pr_err_ratelimited("unsupported version 0x%x of the driver's page table: update gdrkit\n",
				   table->version);
		return -EINVAL;
	}
	if (table->page_size != NVIDIA_P2P_PAGE_SIZE_64KB) {
		pr_err_ratelimited("unsupported page size type %u of the driver; supported: 64 KiB\n",
				   table->page_size);
		return -EINVAL;
	}
	if (table->entries != registration->page_count || !table->pages) {
		pr_err_ratelimited("the driver pinned %u pages instead of %u\n", table->entries,
				   registration->page_count);
		return -EINVAL;
	}
	for (i = 0; i < table->entries; i++) {
		if (!table->pages[i] || !IS_ALIGNED(table->pages[i]->physical_address, PEERMEM_PAGE_SIZE)) {
			pr_err_ratelimited("page %u of %u in the driver's table is missing or not aligned to 64 KiB\n",
					   i, table->entries);
			return -EINVAL;
		}
	}
	return 0;
}

/*
 * A thread inside the driver's dma_map_pages still uses the table, and the driver does not protect it there. This gives
 * the thread time to return. The wait has a timeout: the thread may be waiting for locks under which the callback runs.
 */
static void wait_for_mapping(struct peermem_registration *registration)
{
	wait_event_timeout(registration->mapped, !READ_ONCE(registration->is_mapping), MAPPING_TIMEOUT);
}

/* The driver's callback. registration.h explains the order of its steps. */
static void revoke(void *data)
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

	/* The core may call dma_unmap, put_pages and release in this thread. */
	if (is_shown)
		peermem_invalidate(core_context);
	else
		wait_for_mapping(registration);
	if (mapping)
		nvidia_p2p_free_dma_mapping(mapping);
	if (table)
		nvidia_p2p_free_page_table(table);
	/* A thread that took it from the list sees is_revoked and has its own reference. */
	peermem_orphans_remove(registration);
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
	error = nvidia_p2p_get_pages(0, 0, registration->start, registration->length, table, revoke, registration);
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
		/* Without a table no put is possible, so treat the memory as not pinned. */
		pr_err_ratelimited("the driver reported success but returned no page table\n");
		error = -EIO;
	}
	if (error) {
		peermem_put(registration);
		return error;
	}
	mutex_lock(&registration->lock);
	if (registration->is_revoked) {
		error = -EFAULT; /* the table may be freed already; the callback drops the reference */
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
 * Releases the pages, unless the callback has taken them or is about to. Then the driver releases them when the
 * callback returns. That path takes no lock, because this may be the callback's thread. Pages that the driver keeps, or
 * that this process cannot release, are left to the callback. It needs the registration and drops the pin's reference.
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
		peermem_release_persistent_pages(registration);
	else if (!gdrkit_process_is_current(&registration->process) || !peermem_release_pages(registration))
		peermem_orphans_add(registration);
}

void peermem_drain(void)
{
	if (!peermem_persistent)
		gdrkit_p2p_drain();
}
