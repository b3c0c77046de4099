// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "orphans.h"

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/spinlock.h>

#include "gdrdrv.h"
#include "owner.h"
#include "pin.h"
#include "provider.h"

static DEFINE_SPINLOCK(orphans_lock);
static LIST_HEAD(orphans);
static unsigned int orphan_count;
static atomic_t lost_count = ATOMIC_INIT(0);

/* A callback that drops the last module reference still runs module text; gdrdrv_provider_drain() waits for it. */
static void finish(struct gdrdrv_pin *pin)
{
	gdrdrv_pin_forget(pin);
	module_put(THIS_MODULE);
}

static void enlist(struct gdrdrv_pin *pin)
{
	bool has_ended;

	spin_lock(&orphans_lock);
	has_ended = pin->has_ended;
	if (!has_ended) {
		list_add_tail(&pin->orphan, &orphans);
		pin->is_orphan = true;
		WRITE_ONCE(orphan_count, orphan_count + 1);
	}
	spin_unlock(&orphans_lock);
	if (has_ended) {
		wait_for_completion(&pin->is_callback_done);
		finish(pin);
	}
}

/* The caller holds orphans_lock. */
static void delist(struct gdrdrv_pin *pin)
{
	list_del(&pin->orphan);
	pin->is_orphan = false;
	WRITE_ONCE(orphan_count, orphan_count - 1);
}

void gdrdrv_orphans_add(struct gdrdrv_pin *pin)
{
	__module_get(THIS_MODULE);
	enlist(pin);
}

bool gdrdrv_orphans_end(struct gdrdrv_pin *pin)
{
	bool was_orphan;

	spin_lock(&orphans_lock);
	pin->has_ended = true;
	was_orphan = pin->is_orphan;
	if (was_orphan)
		delist(pin);
	spin_unlock(&orphans_lock);
	if (was_orphan)
		finish(pin);
	return was_orphan;
}

/* Pins in `own` are temporarily no orphans: a callback that runs now leaves them to the caller. */
static void take_own(struct list_head *own)
{
	struct gdrdrv_pin *pin, *next;

	spin_lock(&orphans_lock);
	list_for_each_entry_safe(pin, next, &orphans, orphan) {
		if (gdrdrv_owner_is_current(pin->owner)) {
			delist(pin);
			list_add_tail(&pin->orphan, own);
		}
	}
	spin_unlock(&orphans_lock);
}

void gdrdrv_orphans_retry(void)
{
	struct gdrdrv_pin *pin, *next;
	LIST_HEAD(own);

	if (!READ_ONCE(orphan_count))
		return;
	take_own(&own);
	list_for_each_entry_safe(pin, next, &own, orphan) {
		list_del(&pin->orphan);
		if (gdrdrv_provider_release(pin)) {
			enlist(pin);
			continue;
		}
		gdrdrv_info("released an orphaned pin");
		module_put(THIS_MODULE);
	}
}

void gdrdrv_orphans_lose(void)
{
	atomic_inc(&lost_count);
}

unsigned int gdrdrv_orphans_count(void)
{
	return READ_ONCE(orphan_count) + atomic_read(&lost_count);
}
