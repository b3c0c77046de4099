// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "owner.h"

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "gdrdrv.h"
#include "process.h"

struct gdrdrv_owner {
	struct list_head entry;
	struct kref references;
	struct gdrkit_process process;
	spinlock_t lock; /* protects pins and bytes */
	u64 pins;
	u64 bytes;
};

static DEFINE_MUTEX(owners_lock);
static LIST_HEAD(owners);

static struct gdrdrv_owner *make_owner(void)
{
	struct gdrdrv_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL);

	if (!owner)
		return NULL;
	kref_init(&owner->references);
	spin_lock_init(&owner->lock);
	owner->process = gdrkit_process_get_current();
	return owner;
}

static void free_owner(struct gdrdrv_owner *owner)
{
	gdrkit_process_put(&owner->process);
	kfree(owner);
}

struct gdrdrv_owner *gdrdrv_owner_get_current(void)
{
	/* Allocated before the lock is taken; freed again if the process already has an owner. */
	struct gdrdrv_owner *made = make_owner(), *owner;

	if (!made)
		return NULL;
	mutex_lock(&owners_lock);
	list_for_each_entry(owner, &owners, entry) {
		if (gdrdrv_owner_is_current(owner)) {
			kref_get(&owner->references);
			mutex_unlock(&owners_lock);
			free_owner(made);
			return owner;
		}
	}
	list_add(&made->entry, &owners);
	mutex_unlock(&owners_lock);
	return made;
}

struct gdrdrv_owner *gdrdrv_owner_get(struct gdrdrv_owner *owner)
{
	kref_get(&owner->references);
	return owner;
}

/* Called with owners_lock held, so that no lookup finds an owner without references. */
static void remove_owner(struct kref *references)
{
	struct gdrdrv_owner *owner = container_of(references, struct gdrdrv_owner, references);

	list_del(&owner->entry);
	mutex_unlock(&owners_lock);
	free_owner(owner);
}

void gdrdrv_owner_put(struct gdrdrv_owner *owner)
{
	kref_put_mutex(&owner->references, remove_owner, &owners_lock);
}

bool gdrdrv_owner_is_current(const struct gdrdrv_owner *owner)
{
	return gdrkit_process_is_current(&owner->process);
}

int gdrdrv_owner_charge(struct gdrdrv_owner *owner, u64 bytes)
{
	u64 limit = gdrdrv_params_pinned_limit();
	int result = 0;

	spin_lock(&owner->lock);
	/* Avoids adding two numbers, because users choose one. Pinned bytes may exceed a limit that was set later. */
	if (limit && (bytes > limit || owner->bytes > limit - bytes)) {
		result = -ENOMEM;
	} else {
		owner->bytes += bytes;
		owner->pins++;
	}
	spin_unlock(&owner->lock);
	if (result)
		gdrdrv_debug("process %d would exceed the limit of %llu pinned bytes",
			     gdrkit_process_number(&owner->process), limit);
	return result;
}

void gdrdrv_owner_uncharge(struct gdrdrv_owner *owner, u64 bytes)
{
	spin_lock(&owner->lock);
	owner->bytes -= bytes;
	owner->pins--;
	spin_unlock(&owner->lock);
}

static void read_owner(struct gdrdrv_owner *owner, u64 *pins, u64 *bytes)
{
	spin_lock(&owner->lock);
	*pins = owner->pins;
	*bytes = owner->bytes;
	spin_unlock(&owner->lock);
}

u64 gdrdrv_owner_total_pins(void)
{
	struct gdrdrv_owner *owner;
	u64 total = 0, pins, bytes;

	mutex_lock(&owners_lock);
	list_for_each_entry(owner, &owners, entry) {
		read_owner(owner, &pins, &bytes);
		total += pins;
	}
	mutex_unlock(&owners_lock);
	return total;
}

int gdrdrv_owner_show_all(struct seq_file *file, void *data)
{
	struct gdrdrv_owner *owner;
	u64 pins, bytes;

	seq_puts(file, "process pins bytes\n");
	mutex_lock(&owners_lock);
	list_for_each_entry(owner, &owners, entry) {
		read_owner(owner, &pins, &bytes);
		seq_printf(file, "%d %llu %llu\n", gdrkit_process_number(&owner->process), pins, bytes);
	}
	mutex_unlock(&owners_lock);
	return 0;
}
