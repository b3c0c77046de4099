// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Operations that the RDMA core calls: acquire, get_pages, put_pages, release (dma_map and dma_unmap: mapping.c).
#define pr_fmt(fmt) "gdrkit_peermem: " fmt

#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "client.h"
#include "core.h"
#include "pages.h"
#include "pin.h"
#include "registration.h"

/* Rounds outward to whole pages. Returns false for a range that no program can have. */
static bool set_range(struct peermem_registration *registration, u64 address, u64 size)
{
	u64 end, last;

	if (!size || check_add_overflow(address, size, &end) || check_add_overflow(end, (u64)PEERMEM_PAGE_SIZE - 1, &last))
		return false;
	registration->address = address;
	registration->size = size;
	registration->start = round_down(address, PEERMEM_PAGE_SIZE);
	registration->length = round_down(last, PEERMEM_PAGE_SIZE) - registration->start;
	registration->page_count = registration->length >> PEERMEM_PAGE_SHIFT;
	return registration->length >> PEERMEM_PAGE_SHIFT <= INT_MAX;
}

/* -EINVAL is not logged: it means that the memory is not the GPU's, and the core tries this client for all memory. */
static void log_pin_error(const struct peermem_registration *registration, int error)
{
	if (error == -EINVAL)
		return;
	if (registration->is_persistent && (error == -ENOTSUPP || error == -EOPNOTSUPP))
		pr_err_ratelimited("the driver rejects persistent pins (vGPU, MIG): load with persistent=0\n");
	else
		pr_err_ratelimited("the driver cannot pin %llu bytes at 0x%llx (errno %d)\n", registration->length,
				   registration->start, -error);
}

/*
 * Only a pin shows whether memory is the GPU's. The pin is kept for get_pages, because pinning twice would double the
 * cost.
 */
static int acquire(unsigned long address, size_t size, void *unused_data, char *unused_name, void **context)
{
	struct peermem_registration *registration;
	int error;

	/* The core may call before it has returned the client's handle. A callback could not notify the core then. */
	if (!peermem_is_registered() || !try_module_get(THIS_MODULE))
		return 0;
	peermem_orphans_retry();
	registration = kzalloc(sizeof(*registration), GFP_KERNEL);
	if (!registration) {
		module_put(THIS_MODULE);
		return -ENOMEM;
	}
	kref_init(&registration->references);
	mutex_init(&registration->lock);
	init_waitqueue_head(&registration->mapped);
	INIT_LIST_HEAD(&registration->orphan);
	registration->process = gdrkit_process_get_current();
	registration->is_persistent = peermem_persistent;
	error = set_range(registration, address, size) ? peermem_pin(registration) : -EINVAL;
	if (error) {
		log_pin_error(registration, error);
		peermem_put(registration);
		return error == -EINVAL ? 0 : error;
	}
	*context = registration;
	return 1;
}

static int get_pages(unsigned long address, size_t size, int write, int force, struct sg_table *unused, void *context,
		     gdrkit_core_context core_context)
{
	struct peermem_registration *registration = context;
	int error = 0;

	if (address != registration->address || size != registration->size)
		return -EINVAL;
	mutex_lock(&registration->lock);
	registration->core_context = core_context;
	if (registration->is_revoked)
		error = -EFAULT; /* freed since acquire */
	else if (registration->is_over)
		error = -EINVAL; /* put_pages was called; get_pages follows acquire only once */
	mutex_unlock(&registration->lock);
	return error;
}

static void put_pages(struct sg_table *sg_head, void *context)
{
	struct peermem_registration *registration = context;

	peermem_unpin(registration);
	peermem_free_addresses(registration);
	if (sg_head)
		memset(sg_head, 0, sizeof(*sg_head));
}

static unsigned long get_page_size(void *context)
{
	return PEERMEM_PAGE_SIZE;
}

/* A running callback keeps the registration and this module until it has completed. */
static void release(void *context)
{
	struct peermem_registration *registration = context;

	peermem_unpin(registration);
	peermem_put(registration);
}

const struct peer_memory_client peermem_operations = {
	.acquire = acquire,
	.get_pages = get_pages,
	.dma_map = peermem_dma_map,
	.dma_unmap = peermem_dma_unmap,
	.put_pages = put_pages,
	.get_page_size = get_page_size,
	.release = release,
};
