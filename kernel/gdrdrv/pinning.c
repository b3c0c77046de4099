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
#include "mm_lock.h"
#include "nv-p2p.h"
#include "orphans.h"
#include "owner.h"
#include "page_table.h"
#include "pin.h"
#include "provider.h"
#include "session.h"
#include "trace_points.h"

/* Ends the handle and passes its use of the pin to the caller. Only one caller gets it. */
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
 * The provider's free callback: when it returns, the pages are reused. Runs under the provider's locks, in any process.
 * A thread that ends this pin waits until the callback has ended, so pin and session outlive it. An orphan is ended by
 * the callback itself.
 *
 * A program can delay an unpin between marking the pin as dead and zapping for any time, so the mark says nothing about
 * PTEs. Once the unpin has zapped, an orphan without a session may be all that is left.
 */
static void revoke(void *data)
{
	struct gdrdrv_pin *pin = data;
	struct nvidia_p2p_page_table *table;
	bool was_zapped;

	down_write(&pin->lock);
	was_zapped = pin->is_zapped;
	pin->is_dead = true;
	/* An unpin that zaps from now on sees it: it waits for this callback, and keeps the session until then. */
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

/* A pin that the provider still has. Everything that a later callback needs stays; only the charge is dropped. */
static void leave_behind(struct gdrdrv_pin *pin, int error)
{
	if (error == -EXDEV)
		gdrdrv_debug("%llu bytes stay pinned until they are freed, or their process opens or closes gdrdrv",
			     pin->bytes);
	else
		gdrdrv_error("the NVIDIA driver failed to release %llu bytes (%d)", pin->bytes, error);
	if (pin->is_persistent) {
		gdrdrv_orphans_lose();
		gdrdrv_pin_release(pin);
	} else {
		gdrdrv_orphans_add(pin);
	}
}

/* Kills, zaps and releases a pin of which the caller holds the handle's use, and drops that use. */
static int end(struct gdrdrv_pin *pin)
{
	int result;

	down_write(&pin->lock);
	pin->is_dead = true;
	up_write(&pin->lock);

	/* An mmap that saw the pin alive has linked its VMA when this lock is acquired. */
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
	/* The use held here keeps pin and session for a callback in progress. */
	result = gdrdrv_provider_give_back(pin);
	if (result)
		leave_behind(pin, result);
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
 * The callback came before the table was known here, so it could not release the table. Older drivers leave its memory
 * to us; newer ones ignore the call. Only after the callback has ended, as if called from within it.
 */
static int disown_table(struct gdrdrv_pin *pin, struct nvidia_p2p_page_table *table)
{
	wait_for_completion(&pin->is_callback_done);
	if (table)
		nvidia_p2p_free_page_table(table);
	return -EINVAL;
}

/* Validates and stores the table, unless the memory has been freed meanwhile: then the table is not accessed. */
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

/* Whole GPU pages around the requested range, or -EINVAL if that is empty or exceeds the address space. */
static int round_outwards(struct gdrdrv_pin *pin, const struct gdrdrv_pin_arguments *arguments)
{
	u64 end = arguments->address + arguments->bytes;

	if (arguments->address == 0 || end < arguments->address || end > U64_MAX - GDRDRV_GPU_PAGE_SIZE)
		return -EINVAL;
	pin->address = round_down(arguments->address, GDRDRV_GPU_PAGE_SIZE);
	pin->offset = arguments->address - pin->address;
	pin->bytes = round_up(end, GDRDRV_GPU_PAGE_SIZE) - pin->address;
	/* More than all handles together can address cannot be memory of a GPU. */
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
	gdrdrv_debug("the NVIDIA driver refused %llu bytes at %#llx (%d)", pin->bytes, pin->address, result);
	gdrdrv_owner_uncharge(pin->owner, pin->bytes);
release:
	gdrdrv_handles_release(&session->handles, &pin->range);
free:
	gdrdrv_pin_release(pin);
	return result;
}
