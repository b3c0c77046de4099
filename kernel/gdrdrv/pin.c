// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "pin.h"

#include <linux/slab.h>

#include "owner.h"
#include "session.h"

struct gdrdrv_pin *gdrdrv_pin_make(struct gdrdrv_session *session)
{
	struct gdrdrv_pin *pin = kzalloc(sizeof(*pin), GFP_KERNEL);

	if (!pin)
		return NULL;
	kref_init(&pin->users);
	kref_init(&pin->references);
	init_rwsem(&pin->lock);
	init_completion(&pin->is_callback_done);
	pin->session = session;
	pin->owner = gdrdrv_owner_get(session->owner);
	return pin;
}

static void free_pin(struct kref *references)
{
	struct gdrdrv_pin *pin = container_of(references, struct gdrdrv_pin, references);

	gdrdrv_owner_put(pin->owner);
	kfree(pin);
}

void gdrdrv_pin_release(struct gdrdrv_pin *pin)
{
	kref_put(&pin->references, free_pin);
}

void gdrdrv_pin_forget(struct gdrdrv_pin *pin)
{
	gdrdrv_owner_uncharge(pin->owner, pin->bytes);
	gdrdrv_pin_release(pin);
}

static void release_users(struct kref *users)
{
	struct gdrdrv_pin *pin = container_of(users, struct gdrdrv_pin, users);

	gdrdrv_handles_release(&pin->session->handles, &pin->range);
	pin->session = NULL;
	gdrdrv_pin_release(pin);
}

void gdrdrv_pin_get(struct gdrdrv_pin *pin)
{
	kref_get(&pin->users);
}

void gdrdrv_pin_put(struct gdrdrv_pin *pin)
{
	kref_put(&pin->users, release_users);
}

struct gdrdrv_pin *gdrdrv_pin_find(struct gdrdrv_session *session, u64 handle)
{
	struct gdrdrv_range *range;
	struct gdrdrv_pin *pin = NULL;

	mutex_lock(&session->handles.lock);
	range = gdrdrv_handles_find(&session->handles, handle);
	if (range) {
		pin = container_of(range, struct gdrdrv_pin, range);
		gdrdrv_pin_get(pin);
	}
	mutex_unlock(&session->handles.lock);
	return pin;
}
