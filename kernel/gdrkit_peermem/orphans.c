// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registrations that the core has released but whose pin the driver still holds. The pin's reference keeps each of
// them; the callback drops it. The list lets the process that pinned release the pages earlier.
#include <linux/list.h>
#include <linux/spinlock.h>

#include "orphans.h"
#include "pages.h"
#include "registration.h"

static DEFINE_SPINLOCK(lock);
static LIST_HEAD(all);

/* Does nothing if the callback has already run: it checks the list only once, after it has set is_revoked. */
void peermem_orphans_add(struct peermem_registration *registration)
{
	spin_lock(&lock);
	if (!READ_ONCE(registration->is_revoked))
		list_add_tail(&registration->orphan, &all);
	spin_unlock(&lock);
}

void peermem_orphans_remove(struct peermem_registration *registration)
{
	spin_lock(&lock);
	list_del_init(&registration->orphan);
	spin_unlock(&lock);
}

static void take_own(struct list_head *own)
{
	struct peermem_registration *registration, *next;

	spin_lock(&lock);
	list_for_each_entry_safe(registration, next, &all, orphan)
		if (gdrkit_process_is_current(&registration->process))
			list_move_tail(&registration->orphan, own);
	spin_unlock(&lock);
}

/* Returns a registration with a reference. The callback may remove entries from any list, and then frees them. */
static struct peermem_registration *pop(struct list_head *own)
{
	struct peermem_registration *registration;

	spin_lock(&lock);
	registration = list_first_entry_or_null(own, struct peermem_registration, orphan);
	if (registration) {
		kref_get(&registration->references);
		list_del_init(&registration->orphan);
	}
	spin_unlock(&lock);
	return registration;
}

void peermem_orphans_retry(void)
{
	struct peermem_registration *registration;
	LIST_HEAD(own);

	if (list_empty_careful(&all))
		return;
	take_own(&own);
	while ((registration = pop(&own))) {
		if (!peermem_release_pages(registration))
			peermem_orphans_add(registration);
		peermem_put(registration);
	}
}
