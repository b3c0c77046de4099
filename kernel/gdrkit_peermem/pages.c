// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Releasing pages to the driver; the orphans that it still holds. The pin's reference keeps each orphan; the callback
// drops it. The list lets the process that pinned release the pages earlier.
#define pr_fmt(fmt) "gdrkit_peermem: " fmt

#include "pages.h"

#include <linux/list.h>
#include <linux/printk.h>
#include <linux/spinlock.h>

#include "p2p_lock.h"
#include "registration.h"

static DEFINE_SPINLOCK(orphans_lock);
static LIST_HEAD(orphans);

static bool is_revoked(struct peermem_registration *registration)
{
	bool result;

	mutex_lock(&registration->lock);
	result = registration->is_revoked;
	mutex_unlock(&registration->lock);
	return result;
}

/*
 * Holds gdrkit's lock before it reads the table pointer. So the pointer names this pin or none when the driver looks it
 * up. If a callback begins after that, put_pages waits for its end and returns 0.
 */
static int put_revocable(struct peermem_registration *registration)
{
	struct nvidia_p2p_page_table *table;
	int error = 0;

	gdrkit_p2p_lock();
	mutex_lock(&registration->lock);
	table = registration->is_revoked ? NULL : registration->table;
	mutex_unlock(&registration->lock);
	if (table)
		error = nvidia_p2p_put_pages(0, 0, registration->start, table);
	gdrkit_p2p_unlock();
	return error;
}

static void log_release_error(const struct peermem_registration *registration, int error)
{
	pr_err_ratelimited("the driver cannot release %llu bytes at 0x%llx (errno %d)\n", registration->length,
			   registration->start, -error);
}

/* Persistent pins have no callback. There is no retry: the driver may drop a reference even if it fails. */
void peermem_release_persistent_pages(struct peermem_registration *registration)
{
	int error = nvidia_p2p_put_pages_persistent(registration->start, registration->table, 0);

	if (error)
		log_release_error(registration, error);
	peermem_put(registration);
}

/* put_pages' 0 is reliable here: this is the process that pinned, and a callback that had begun has set is_revoked. */
bool peermem_release_pages(struct peermem_registration *registration)
{
	int error = put_revocable(registration);

	if (is_revoked(registration))
		return true; /* the callback drops the pin's reference */
	if (error) {
		log_release_error(registration, error);
		return false;
	}
	peermem_put(registration);
	return true;
}

/* Does nothing if the callback has already run: it checks the list only once, after it has set is_revoked. */
void peermem_orphans_add(struct peermem_registration *registration)
{
	spin_lock(&orphans_lock);
	if (!READ_ONCE(registration->is_revoked))
		list_add_tail(&registration->orphan, &orphans);
	spin_unlock(&orphans_lock);
}

void peermem_orphans_remove(struct peermem_registration *registration)
{
	spin_lock(&orphans_lock);
	list_del_init(&registration->orphan);
	spin_unlock(&orphans_lock);
}

static void take_own(struct list_head *own)
{
	struct peermem_registration *registration, *next;

	spin_lock(&orphans_lock);
	list_for_each_entry_safe(registration, next, &orphans, orphan)
		if (gdrkit_process_is_current(&registration->process))
			list_move_tail(&registration->orphan, own);
	spin_unlock(&orphans_lock);
}

/* Returns a registration with a reference. The callback may remove entries from any list, and then frees them. */
static struct peermem_registration *pop(struct list_head *own)
{
	struct peermem_registration *registration;

	spin_lock(&orphans_lock);
	registration = list_first_entry_or_null(own, struct peermem_registration, orphan);
	if (registration) {
		kref_get(&registration->references);
		list_del_init(&registration->orphan);
	}
	spin_unlock(&orphans_lock);
	return registration;
}

void peermem_orphans_retry(void)
{
	struct peermem_registration *registration;
	LIST_HEAD(own);

	if (list_empty_careful(&orphans))
		return;
	take_own(&own);
	while ((registration = pop(&own))) {
		if (!peermem_release_pages(registration))
			peermem_orphans_add(registration);
		peermem_put(registration);
	}
}
