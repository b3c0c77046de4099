// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A module called nvidia_peermem that holds the client's name and accepts no memory.
#include <linux/module.h>

#include "flavour.h"
#include "peer_mem.h"

static int acquire(unsigned long address, size_t size, void *unused_data, char *unused_name, void **context)
{
	return 0;
}

static int get_pages(unsigned long address, size_t size, int write, int force, struct sg_table *unused, void *context,
		     gdrkit_core_context core_context)
{
	return -EINVAL;
}

static int dma_map(struct sg_table *sg_head, void *context, struct device *device, int unused, int *count)
{
	return -EINVAL;
}

static int dma_unmap(struct sg_table *sg_head, void *context, struct device *device)
{
	return 0;
}

static void put_pages(struct sg_table *sg_head, void *context)
{
}

static unsigned long get_page_size(void *context)
{
	return PAGE_SIZE;
}

static void release(void *context)
{
}

static const struct peer_memory_client client = {
	.name = "nv_mem",
	.version = "1.0",
	.acquire = acquire,
	.get_pages = get_pages,
	.dma_map = dma_map,
	.dma_unmap = dma_unmap,
	.put_pages = put_pages,
	.get_page_size = get_page_size,
	.release = release,
};
static void *handle;

static int __init competing_client_init(void)
{
	handle = ib_register_peer_memory_client(&client, NULL);
	return handle ? 0 : -EEXIST;
}

static void __exit competing_client_exit(void)
{
	ib_unregister_peer_memory_client(handle);
}

module_init(competing_client_init);
module_exit(competing_client_exit);
MODULE_DESCRIPTION("emulates another peer-memory client that holds the name");
MODULE_LICENSE(GDRKIT_MODULE_LICENSE);
