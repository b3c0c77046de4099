// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registrations that the core has released and whose pin the driver still has. The pin's reference, which the callback
// drops, keeps each. The list lets their own process release them before that.
#include <linux/list.h>
#include <linux/spinlock.h>

#include "left_behind.h"
#include "pages.h"
#include "registration.h"

static DEFINE_SPINLOCK(lock);
static LIST_HEAD(all);

/* Not if the callback has come meanwhile: it checks the list once, after it has set is_revoked. */
void peermem_leave_behind(struct peermem_registration *registration)
{
	spin_lock(&lock);
	if (!READ_ONCE(registration->is_revoked))
		list_add_tail(&registration->left_behind, &all);
	spin_unlock(&lock);
}

void peermem_forget_left_behind(struct peermem_registration *registration)
{
	spin_lock(&lock);
	list_del_init(&registration->left_behind);
	spin_unlock(&lock);
}

static void take_own(struct list_head *own)
{
	struct peermem_registration *registration, *next;

	spin_lock(&lock);
	list_for_each_entry_safe(registration, next, &all, left_behind)
		if (gdrkit_process_is_current(&registration->process))
			list_move_tail(&registration->left_behind, own);
	spin_unlock(&lock);
}

/* With a reference. The callback may remove entries from any list, and then frees them. */
static struct peermem_registration *pop(struct list_head *own)
{
	struct peermem_registration *registration;

	spin_lock(&lock);
	registration = list_first_entry_or_null(own, struct peermem_registration, left_behind);
	if (registration) {
		kref_get(&registration->references);
		list_del_init(&registration->left_behind);
	}
	spin_unlock(&lock);
	return registration;
}

void peermem_retry_left_behind(void)
{
	struct peermem_registration *registration;
	LIST_HEAD(own);

	if (list_empty_careful(&all))
		return;
	take_own(&own);
	while ((registration = pop(&own))) {
		if (!peermem_give_back(registration))
			peermem_leave_behind(registration);
		peermem_put(registration);
	}
}
