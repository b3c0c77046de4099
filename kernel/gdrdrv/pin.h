/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * One pinned range of GPU memory.
 *
 *   reserved -> live -> dead -> released
 *
 * It dies by an unpin, by the end of its session or by the provider's callback; after a callback the handle stays
 * valid. Two counts: `users` are the handle, look-ups and VMAs, and the range of handles is freed with the last of
 * them. `references` keep the memory, one for all users together and one until the provider has released the pin. A pin
 * without users that the provider still has is an orphan.
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
	struct gdrdrv_session *session; /* valid as long as there are users */
	struct gdrdrv_owner *owner;

	/* Fields that do not change after the pin is live. */
	u64 address; /* of the first GPU page */
	u64 bytes;   /* whole GPU pages */
	u64 offset;  /* of the requested address in the first page */
	bool is_persistent;
	bool can_cache;
	u64 cycles; /* duration of pinning */

	struct rw_semaphore lock; /* of the following */
	struct nvidia_p2p_page_table *table; /* NULL once the callback has taken it */
	bool is_dead;			     /* no PTE may be added */
	bool is_zapped;			     /* dead, and no PTE is left */
	bool is_revoked;		     /* by the callback */
	u32 requested_type;
	u32 mapping_type;
	u32 mappings;	    /* VMAs: at most one, temporarily two while Linux tries an mremap */
	u64 reserved_bytes; /* registered as write-combining */

	struct completion is_callback_done;

	/* Under the orphans' lock. */
	struct list_head orphan;
	bool is_orphan;	     /* in the list: the callback ends it */
	bool has_ended;	     /* the callback has done everything except signal is_callback_done */
};

/* A pin with one user and one reference for all users, or NULL if out of memory. It has no range of handles yet. */
struct gdrdrv_pin *gdrdrv_pin_make(struct gdrdrv_session *session);

/* The live or revoked pin of a handle, with an additional user; NULL for an unknown handle. */
struct gdrdrv_pin *gdrdrv_pin_look_up(struct gdrdrv_session *session, u64 handle);
void gdrdrv_pin_get(struct gdrdrv_pin *pin);
void gdrdrv_pin_put(struct gdrdrv_pin *pin);

/* Drops a reference. */
void gdrdrv_pin_release(struct gdrdrv_pin *pin);
/* The provider has released the pin: drops its reference and the owner's charge. */
void gdrdrv_pin_forget(struct gdrdrv_pin *pin);

#endif
