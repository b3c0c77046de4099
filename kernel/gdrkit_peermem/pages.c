// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#define pr_fmt(fmt) "gdrkit_peermem: " fmt

#include "pages.h"

#include <linux/printk.h>

#include "p2p_lock.h"
#include "registration.h"

static bool is_revoked(struct peermem_registration *registration)
{
	bool result;

	mutex_lock(&registration->lock);
	result = registration->is_revoked;
	mutex_unlock(&registration->lock);
	return result;
}

/*
 * The lock is held from before the table is read, so that the pointer still identifies this pin, or none, when the
 * driver searches for it. put_pages lets a callback that begins after that run, waits for its end and returns 0.
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

static void complain(const struct peermem_registration *registration, int error)
{
	pr_err_ratelimited("the driver kept %llu bytes at 0x%llx pinned (errno %d)\n", registration->length,
			   registration->start, -error);
}

/*
 * The driver has no callbacks for these. It may have dropped a reference even on failure, so there is no second
 * attempt.
 */
void peermem_give_back_persistent(struct peermem_registration *registration)
{
	int error = nvidia_p2p_put_pages_persistent(registration->start, registration->table, 0);

	if (error)
		complain(registration, error);
	peermem_put(registration);
}

/*
 * The 0 of put_pages is reliable here: this is the process that pinned, and a callback in progress has set is_revoked.
 */
bool peermem_give_back(struct peermem_registration *registration)
{
	int error = put_revocable(registration);

	if (is_revoked(registration))
		return true; /* and the callback drops the pin's reference */
	if (error) {
		complain(registration, error);
		return false;
	}
	peermem_put(registration);
	return true;
}
