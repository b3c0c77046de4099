/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * One pinned range of GPU memory.
 *
 *   reserved -> live -> dead -> released
 *
 * An unpin, the end of its session or the provider's callback makes it dead; after a callback the handle stays valid.
 * A pin has two counts:
 *   - `users`: the handle, lookups and VMAs. The last one releases the range of handles.
 *   - `references`: keep the structure allocated. All users share one; the provider has one until it releases the pin.
 * A pin without users that the provider has not released is an orphan.
 */
#ifndef GDRDRV_PIN_H
#define GDRDRV_PIN_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rwsem.h>
#include <linux/types.h>

#include "handle_table.h"

struct gdrdrv_owner;
struct gdrdrv_session;
struct nvidia_p2p_page_table;

struct gdrdrv_pin {
	struct gdrdrv_range range;
	struct kref users;
	struct kref references;
	struct gdrdrv_session *session; /* valid while there are users */
	struct gdrdrv_owner *owner;

	/* Constant once the pin is live. */
	u64 address; /* of the first GPU page */
	u64 bytes;   /* whole GPU pages */
	u64 offset;  /* of the requested address in the first page */
	bool is_persistent;
	bool can_cache;
	u64 cycles; /* duration of pinning */

	struct rw_semaphore lock; /* protects the members up to reserved_bytes */
	struct nvidia_p2p_page_table *table; /* NULL once the callback has taken it */
	bool is_dead;			     /* no PTE may be added */
	bool is_zapped;			     /* dead, and all PTEs are removed */
	bool is_revoked;		     /* by the callback */
	u32 requested_type;
	u32 mapping_type;
	u32 mappings;	    /* VMAs: at most one, briefly two while Linux attempts an mremap */
	u64 reserved_bytes; /* registered as write-combining */

	struct completion is_callback_done;

	/* Protected by orphans_lock. */
	struct list_head orphan;
	bool is_orphan;	     /* in the list: the callback ends it */
	bool has_ended;	     /* the callback only has to signal is_callback_done */
};

/* Returns a pin with one user and that user's reference, without a range of handles; NULL if out of memory. */
struct gdrdrv_pin *gdrdrv_pin_make(struct gdrdrv_session *session);

/* Returns the live or revoked pin of a handle with one more user, or NULL for an invalid handle. */
struct gdrdrv_pin *gdrdrv_pin_find(struct gdrdrv_session *session, u64 handle);
void gdrdrv_pin_get(struct gdrdrv_pin *pin);
void gdrdrv_pin_put(struct gdrdrv_pin *pin);

/* Drops a reference. */
void gdrdrv_pin_release(struct gdrdrv_pin *pin);
/* Drops the provider's reference and uncharges the owner, after the provider has released the pin. */
void gdrdrv_pin_forget(struct gdrdrv_pin *pin);

#endif
