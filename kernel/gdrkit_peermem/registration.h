/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * One registration of GPU memory, between two others that call in at any time: the RDMA core from above, and from below
 * the driver, whose callback takes the memory away.
 *
 * Order when memory is freed under a registration (pin.c):
 *   1. is_revoked is set. From here on no table or mapping goes to the driver again.
 *   2. The core is told, if the adapter was shown addresses. When it returns, the adapter has stopped.
 *   3. The mapping and the table are handed back, and the callback returns. Only now does the driver reuse the memory.
 * So there is no moment at which the adapter can use an address whose memory has gone.
 *
 * Memory is given back by the process that pinned it, the only one for which the driver finds the pin, and under
 * gdrkit's lock over the driver (p2p_lock.h). Where another process deregisters, or ends last, the registration is left
 * behind: the pin stays with a reference to it until the callback comes, or until its process registers again.
 *
 * Nobody waits in a circle, because `lock` is never held over a call to the core or to the driver, and because the
 * callback, which runs under the driver's locks, calls the core only while addresses are shown:
 *   - before that, the core holds its own lock and may be waiting for the driver in get_pages or dma_map. The adapter has
 *     no addresses then; is_revoked makes the call that is under way fail.
 *   - after dma_unmap the core has stopped the adapter by itself, and may be waiting for the driver in put_pages.
 * gdrkit's lock over the driver changes nothing in this: whoever holds it waits for the driver only, and the callback
 * never takes it, also not where the core comes back in the callback's thread to put pages that are revoked by then.
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
	bool is_over; /* the core needs the pages no more, or never got them */
	bool is_mapping; /* a thread is in the driver's dma_map_pages */
	bool is_shown; /* the adapter may use the addresses in `sg` */
};

void peermem_put(struct peermem_registration *registration);
/* Not before put_pages or release: until then the core may still write to the entries, also after an invalidation. */
void peermem_free_addresses(struct peermem_registration *registration);

#endif
