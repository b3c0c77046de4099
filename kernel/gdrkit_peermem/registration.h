/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * One registration of GPU memory, between two others that may call at any time: the RDMA core from above, and from
 * below the driver, whose callback revokes the memory.
 *
 * Order when memory is freed while it is registered (pin.c):
 * 1. is_revoked is set. From here on no table or mapping is passed to the driver again.
 * 2. The core is notified if the adapter has addresses. When it returns, the adapter has stopped.
 * 3. The mapping and the table are handed back, and the callback returns. Only now does the driver reuse the memory.
 * Therefore the adapter can never use an address whose memory has been released.
 *
 * Memory is released by the process that pinned it, the only one for which the driver finds the pin, and under gdrkit's
 * lock over the driver (p2p_lock.h). If another process deregisters, or ends last, the registration is left behind: the
 * pin stays with a reference to it until the callback comes, or until its process registers again.
 *
 * There is no cycle of waits. `lock` is never held during a call to the core or to the driver. The callback, which runs
 * under the driver's locks, calls the core only while the adapter has addresses:
 * - Before that, the core holds its own lock and may be waiting for the driver in get_pages or dma_map. The adapter has
 *   no addresses then; is_revoked makes the call in progress fail.
 * - After dma_unmap the core has already stopped the adapter, and may be waiting for the driver in put_pages.
 * gdrkit's lock over the driver does not change this. Its holder waits for the driver only. The callback never takes
 * it, even if the core puts pages, which are revoked by then, in the callback's thread.
 *
 * Members from `table` on are protected by `lock`.
 */
#ifndef GDRKIT_PEERMEM_REGISTRATION_H
#define GDRKIT_PEERMEM_REGISTRATION_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>

#include "nv-p2p.h"
#include "peer_mem.h"
#include "process.h"

#define PEERMEM_PAGE_SHIFT 16 /* the driver pins whole 64 KiB */
#define PEERMEM_PAGE_SIZE (1UL << PEERMEM_PAGE_SHIFT)

struct pci_dev;

struct peermem_registration {
	/* The core's from acquire to release; the pin's until it is put or its callback has ended. */
	struct kref references;
	u64 address; /* as the program gave it */
	u64 size;
	u64 start; /* rounded outward to whole pages */
	u64 length;
	unsigned int page_count;
	bool is_persistent;
	struct gdrkit_process process; /* that pinned */
	struct list_head left_behind; /* see left_behind.c */
	wait_queue_head_t mapped; /* is_mapping became false */

	struct mutex lock;
	struct nvidia_p2p_page_table *table; /* NULL: nothing is pinned */
	struct nvidia_p2p_dma_mapping *mapping;
	struct pci_dev *peer;
	struct sg_table sg; /* shared with the core from dma_map until put_pages or release */
	gdrkit_core_context core_context;
	bool is_revoked; /* the driver has taken the table, or is about to */
	bool is_over; /* the core no longer needs the pages, or never got them */
	bool is_mapping; /* a thread is in the driver's dma_map_pages */
	bool is_shown; /* the adapter may use the addresses in `sg` */
};

void peermem_put(struct peermem_registration *registration);
/* Not before put_pages or release: until then the core may write to the entries, also after an invalidation. */
void peermem_free_addresses(struct peermem_registration *registration);

#endif
