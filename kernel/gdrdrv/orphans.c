// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "orphans.h"

#include <linux/list.h>
#include <linux/module.h>
#include <linux/spinlock.h>

#include "gdrdrv.h"
#include "pin.h"

static DEFINE_SPINLOCK(orphans_lock);
static LIST_HEAD(orphans);
static unsigned int orphan_count;

static void put_back(struct gdrdrv_pin *pin)
{
	spin_lock(&orphans_lock);
	list_add_tail(&pin->orphan, &orphans);
	orphan_count++;
	spin_unlock(&orphans_lock);
}

/* Called with a file open, which holds the module, so that taking one more hold cannot fail. */
void gdrdrv_orphans_add(struct gdrdrv_pin *pin)
{
	__module_get(THIS_MODULE);
	put_back(pin);
}

static struct gdrdrv_pin *take_first(void)
{
	struct gdrdrv_pin *pin;

	spin_lock(&orphans_lock);
	pin = list_first_entry_or_null(&orphans, struct gdrdrv_pin, orphan);
	if (pin) {
		list_del(&pin->orphan);
		orphan_count--;
	}
	spin_unlock(&orphans_lock);
	return pin;
}

void gdrdrv_orphans_retry(void)
{
	/* Each at most once, for those that are refused again go to the end. */
	unsigned int left = gdrdrv_orphans_count();
	struct gdrdrv_pin *pin;

	while (left-- > 0 && (pin = take_first())) {
		if (gdrdrv_pin_give_back(pin)) {
			put_back(pin);
			continue;
		}
		gdrdrv_info("the NVIDIA driver took back a pin that it had refused");
		module_put(THIS_MODULE);
	}
}

unsigned int gdrdrv_orphans_count(void)
{
	return READ_ONCE(orphan_count);
}
