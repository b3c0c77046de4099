/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Shared by the source files of the fake RDMA core. */
#ifndef GDRKIT_FAKE_RDMA_CORE_H
#define GDRKIT_FAKE_RDMA_CORE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/semaphore.h>
#include <linux/wait.h>

#include "../fake_p2p/fake_p2p.h"
#include "fake_rdma_core_ioctl.h"
#include "peer_mem.h"

struct miscdevice;

struct fake_client {
	struct list_head entry;
	const struct peer_memory_client *operations;
	bool can_invalidate;
	bool unmaps; /* INVALIDATE_UNMAPS */
	atomic_t users; /* registrations; unregistering waits for 0 */
	wait_queue_head_t unused;
};

enum fake_state {
	FAKE_STATE_ACQUIRED,
	FAKE_STATE_PINNED,
	FAKE_STATE_MAPPED,
	FAKE_STATE_INVALIDATED, /* the client unmaps and puts; the core has dropped the addresses */
	FAKE_STATE_STOPPED, /* the core must unmap and put */
	FAKE_STATE_UNMAPPED, /* the core must put */
	FAKE_STATE_PUT
};

struct fake_registration {
	struct kref references; /* of the steps and of invalidations in progress */
	struct fake_client *client;
	const void *owner; /* the file */
	struct mutex steps; /* one step at a time; an invalidation does not take it */
	u32 id;
	u64 address;
	u64 size;
	void *context; /* the client's */
	u32 core_context; /* 0: none */
	bool is_locked; /* from get_pages until activate; blocks invalidations */
	/*
	 * Protects all members below. Like the mutex of a real core, it is held across calls to the client. It is a
	 * semaphore because one request takes it and a later one releases it.
	 */
	struct semaphore mapping_lock;
	enum fake_state state;
	struct sg_table sg;
	struct fake_core_range *reachable; /* the adapter's addresses; NULL if it is stopped */
	u32 reachable_count;
};

/* counters.c */
extern struct fake_core_report fake_core_counters; /* modified only by fake_core_count() */
void fake_core_count(u64 *counter, int by);
void fake_core_mistake(const char *what);
int fake_core_copy_counters(struct fake_core_report *report);
int fake_core_reset_counters(void);

/* adapter.c; the caller of start, stop and check holds mapping_lock */
void fake_adapter_use(struct device *pci_device, const struct miscdevice *node);
struct device *fake_adapter_device(void);
int fake_adapter_start(struct fake_registration *registration);
void fake_adapter_stop(struct fake_registration *registration);
void fake_adapter_check(const struct fake_registration *registration, int count);

/* registration.c */
const struct peer_memory_client *fake_registration_client(const struct fake_registration *registration);
void fake_registration_unmap(struct fake_registration *registration);
void fake_registration_put(struct fake_registration *registration);
void fake_registration_unmap_and_put(struct fake_registration *registration);
void fake_registration_free(struct kref *references);

/* clients.c */
struct fake_client *fake_client_acquire(u64 address, u64 size, void **context, int *result);
void fake_client_drop(struct fake_client *client);
int fake_client_allow_invalidation(struct fake_registration *registration);
void fake_client_end_invalidation(struct fake_registration *registration);

/* steps.c */
int fake_steps_take(const void *owner, struct fake_core_step *step);
int fake_steps_addresses(struct fake_core_addresses *request);
void fake_steps_end_all_of(const void *owner);

#endif
