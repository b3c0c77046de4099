// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "pinning.h"

#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "cycles.h"
#include "gdrdrv.h"
#include "gdrdrv_abi.h"
#include "mapping.h"
#include "mapping_type.h"
#include "nv-p2p.h"
#include "orphans.h"
#include "owner.h"
#include "page_table.h"
#include "pin.h"
#include "provider.h"
#include "session.h"
#include "trace_points.h"
#include "vma.h"

/* Invalidates the handle and passes its use of the pin to the caller. Exactly one caller gets it. */
static struct gdrdrv_pin *detach(struct gdrdrv_session *session, struct gdrdrv_range *range)
{
	lockdep_assert_held(&session->handles.lock);
	if (!range)
		return NULL;
	range->is_visible = false;
	return container_of(range, struct gdrdrv_pin, range);
}

static void forget_reservation(struct gdrdrv_pin *pin)
{
	if (pin->table)
		gdrdrv_mapping_type_unreserve(pin->table, pin->reserved_bytes);
	pin->reserved_bytes = 0;
}

/*
 * The provider's free callback. When it returns, the provider reuses the pages. It runs under the provider's locks, in
 * any process. The function that ends the pin waits for the callback, so pin and session outlive it. The callback
 * itself ends an orphan.
 *
 * is_dead does not imply that the PTEs are gone: an unpin may be delayed between the mark and its zap for as long as
 * the program likes. After the unpin's zap, an orphan may remain, which has no session.
 */
static void revoke(void *data)
{
	struct gdrdrv_pin *pin = data;
	struct nvidia_p2p_page_table *table;
	bool was_zapped;

	down_write(&pin->lock);
	was_zapped = pin->is_zapped;
	pin->is_dead = true;
	/* An unpin that zaps from now on sees is_revoked, waits for this callback and keeps the session until then. */
	pin->is_revoked = true;
	up_write(&pin->lock);

	if (!was_zapped)
		gdrdrv_mapping_zap(pin);

	down_write(&pin->lock);
	forget_reservation(pin);
	table = pin->table;
	pin->table = NULL;
	pin->mapping_type = GDRDRV_MAPPING_NONE;
	up_write(&pin->lock);

	trace_gdrdrv_revoke(pin->range.first, pin->address, pin->bytes);
	if (table)
		nvidia_p2p_free_page_table(table);
	if (!gdrdrv_orphans_end(pin))
		complete_all(&pin->is_callback_done);
}

/*
 * Handles a pin that the provider failed to release. A revocable pin becomes an orphan; a persistent one stays charged.
 */
static void abandon(struct gdrdrv_pin *pin, int error)
{
	if (error == -EXDEV)
		gdrdrv_debug("%llu bytes stay pinned until they are freed or their process opens or closes gdrdrv",
			     pin->bytes);
	else
		gdrdrv_error("the NVIDIA driver cannot release %llu bytes (%d)", pin->bytes, error);
	if (pin->is_persistent) {
		gdrdrv_orphans_lose();
		gdrdrv_pin_release(pin);
	} else {
		gdrdrv_orphans_add(pin);
	}
}

/* Marks the pin dead, zaps and releases it. The caller passes the handle's use of the pin. */
static int end(struct gdrdrv_pin *pin)
{
	int result;

	down_write(&pin->lock);
	pin->is_dead = true;
	up_write(&pin->lock);

	/* Taking this lock waits for an mmap that saw the live pin; then its VMA is linked and the zap finds it. */
	if (current->mm) {
		mmap_read_lock(current->mm);
		mmap_read_unlock(current->mm);
	}
	gdrdrv_mapping_zap(pin);

	down_write(&pin->lock);
	pin->is_zapped = true;
	forget_reservation(pin);
	pin->mapping_type = GDRDRV_MAPPING_NONE;
	up_write(&pin->lock);

	trace_gdrdrv_unpin(pin->range.first, pin->address, pin->bytes);
	/* The handle's use keeps pin and session for a concurrent callback. */
	result = gdrdrv_provider_release(pin);
	if (result)
		abandon(pin, result);
	gdrdrv_pin_put(pin);
	return result;
}

int gdrdrv_pin_unpin(struct gdrdrv_session *session, u64 handle)
{
	struct gdrdrv_pin *pin;

	mutex_lock(&session->handles.lock);
	pin = detach(session, gdrdrv_handles_find(&session->handles, handle));
	mutex_unlock(&session->handles.lock);
	return pin ? end(pin) : -EINVAL;
}

void gdrdrv_pin_unpin_all(struct gdrdrv_session *session)
{
	struct gdrdrv_pin *pin;

	for (;;) {
		mutex_lock(&session->handles.lock);
		pin = detach(session, gdrdrv_handles_any(&session->handles));
		mutex_unlock(&session->handles.lock);
		if (!pin)
			return;
		end(pin);
	}
}

/*
 * The callback ran before this thread received the table, so it could not free it. Older drivers require that; newer
 * ones ignore the call. As from within the callback, the table is freed only after it has completed.
 */
static int disown_table(struct gdrdrv_pin *pin, struct nvidia_p2p_page_table *table)
{
	wait_for_completion(&pin->is_callback_done);
	if (table)
		nvidia_p2p_free_page_table(table);
	return -EINVAL;
}

/* Checks and stores the table. If the memory was revoked in the meantime, the table's contents are not read. */
static int adopt_table(struct gdrdrv_pin *pin, struct nvidia_p2p_page_table *table, bool may_cache)
{
	bool was_revoked;
	int result = 0;

	down_write(&pin->lock);
	was_revoked = pin->is_revoked;
	if (!was_revoked) {
		pin->table = table;
		result = gdrdrv_page_table_check(table, pin->bytes);
		if (!result)
			pin->can_cache = may_cache && gdrdrv_mapping_type_can_cache(table);
		else
			pin->is_dead = true;
	}
	up_write(&pin->lock);
	return was_revoked ? disown_table(pin, table) : result;
}

/* Rounds the request to whole GPU pages. Returns -EINVAL if it is empty or exceeds the address range. */
static int round_outwards(struct gdrdrv_pin *pin, const struct gdrdrv_pin_arguments *arguments)
{
	u64 end = arguments->address + arguments->bytes;

	if (arguments->address == 0 || end < arguments->address || end > U64_MAX - GDRDRV_GPU_PAGE_SIZE)
		return -EINVAL;
	pin->address = round_down(arguments->address, GDRDRV_GPU_PAGE_SIZE);
	pin->offset = arguments->address - pin->address;
	pin->bytes = round_up(end, GDRDRV_GPU_PAGE_SIZE) - pin->address;
	/* More pages than handles can address: no GPU has that much memory. */
	return pin->bytes == 0 || pin->bytes >> PAGE_SHIFT > 1ULL << 32 ? -EINVAL : 0;
}

static void publish(struct gdrdrv_pin *pin)
{
	mutex_lock(&pin->session->handles.lock);
	pin->range.is_visible = true;
	mutex_unlock(&pin->session->handles.lock);
}

int gdrdrv_pin_create(struct gdrdrv_session *session, const struct gdrdrv_pin_arguments *arguments, u64 *handle)
{
	struct gdrdrv_pin *pin = gdrdrv_pin_make(session);
	struct nvidia_p2p_page_table *table = NULL;
	u64 start;
	int result;

	BUILD_BUG_ON(PAGE_SIZE > GDRDRV_GPU_PAGE_SIZE);
	if (!pin)
		return -ENOMEM;
	result = round_outwards(pin, arguments);
	if (result)
		goto free;
	result = gdrdrv_handles_reserve(&session->handles, &pin->range, pin->bytes >> PAGE_SHIFT);
	if (result)
		goto free;
	result = gdrdrv_owner_charge(pin->owner, pin->bytes);
	if (result)
		goto release;
	start = gdrkit_cycles();
	result = gdrdrv_provider_get(pin, arguments->flags & GDRDRV_PIN_FORCE_PCIE, revoke, &table);
	if (result)
		goto uncharge;
	pin->cycles = gdrkit_cycles() - start;
	kref_get(&pin->references); /* the provider's */
	result = adopt_table(pin, table, !(arguments->flags & GDRDRV_PIN_FORCE_PCIE));
	if (result) {
		end(pin);
		return result;
	}
	*handle = pin->range.first;
	trace_gdrdrv_pin(*handle, pin->address, pin->bytes, pin->is_persistent);
	gdrdrv_info("pinned %llu bytes at %#llx, %spersistent", pin->bytes, pin->address,
		    pin->is_persistent ? "" : "not ");
	/* From here on another thread may find the pin and unpin it. */
	publish(pin);
	return 0;
uncharge:
	gdrdrv_debug("the NVIDIA driver cannot pin %llu bytes at %#llx (%d)", pin->bytes, pin->address, result);
	gdrdrv_owner_uncharge(pin->owner, pin->bytes);
release:
	gdrdrv_handles_release(&session->handles, &pin->range);
free:
	gdrdrv_pin_release(pin);
	return result;
}
