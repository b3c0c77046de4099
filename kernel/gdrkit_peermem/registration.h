/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * One registration of GPU memory. Two parties call into it at any time: the RDMA core, and NVIDIA's driver, whose
 * callback revokes the memory.
 *
 * Order when memory is freed under a registration (pin.c):
 *   1. The callback sets is_revoked. From here on no table or mapping is passed to the driver.
 *   2. If the adapter has addresses, the callback invalidates them through the core, which returns after the adapter
 *      has stopped.
 *   3. The callback frees the mapping and the table and returns. Only then does the driver reuse the memory.
 * So the adapter never has an address of released memory.
 *
 * Only the process that pinned memory releases it, because the driver finds the pin only there. It does so under
 * gdrkit's lock around the driver (p2p_lock.h). If another process deregisters or drops the last use, the registration
 * becomes an orphan: the pin keeps a reference to it until the callback runs or its process registers memory again.
 *
 * There is no deadlock. `lock` is never held across a call to the core or the driver. The callback, which runs under
 * the driver's locks, calls the core only while the adapter has addresses:
 *   - Before that, the core holds its own lock and may wait for the driver in get_pages or dma_map. The adapter has no
 *     addresses then; is_revoked makes the call in progress fail.
 *   - After dma_unmap the core has already stopped the adapter and may wait for the driver in put_pages.
 * gdrkit's lock around the driver adds no cycle: its holder waits only for the driver. The callback never takes it, not
 * even if the core releases revoked pages in the callback's thread.
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
	/* One from acquire to release, for the core; one for the pin, until it is put or its callback has completed. */
	struct kref references;
	u64 address; /* as passed by the program */
	u64 size;
	u64 start; /* rounded outward to whole pages */
	u64 length;
	unsigned int page_count;
	bool is_persistent;
	struct gdrkit_process process; /* that pinned */
	struct list_head orphan; /* see pages.c */
	wait_queue_head_t mapped; /* woken when is_mapping becomes false */

	struct mutex lock;
	struct nvidia_p2p_page_table *table; /* NULL: nothing is pinned */
	struct nvidia_p2p_dma_mapping *mapping;
	struct pci_dev *peer;
	struct sg_table sg; /* shared with the core from dma_map until put_pages or release */
	gdrkit_core_context core_context;
	bool is_revoked; /* the driver has taken the table, or is about to */
	bool is_over; /* the core no longer needs the pages, or never got them */
	bool is_mapping; /* a thread is in the driver's dma_map_pages */
	bool is_shown; /* the adapter has the addresses in `sg` */
};

void peermem_put(struct peermem_registration *registration);
/* Only after put_pages or release: until then the core may write to the entries, even after an invalidation. */
void peermem_free_addresses(struct peermem_registration *registration);

#endif
