/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The peer-memory interface of an RDMA core: the installed stack's header if kernel/gdrkit_peermem's Kbuild finds one,
 * otherwise gdrkit's declarations of the same layout.
 *
 * The sequence of a registration is acquire, get_pages, dma_map, ..., dma_unmap, put_pages, release. A client may call
 * the invalidation callback from get_pages on. The core therefore holds its own lock from get_pages until it can stop
 * the adapter, and takes that lock in the callback. Between those steps a client must not wait for the callback in an
 * operation that the core calls: that is a deadlock.
 */
#ifndef GDRKIT_PEER_MEM_H
#define GDRKIT_PEER_MEM_H

#include <linux/scatterlist.h>
#include <linux/types.h>

struct device;

#ifdef GDRKIT_PEER_MEM_INSTALLED
#include <rdma/peer_mem.h>
#else

#define IB_PEER_MEMORY_NAME_MAX 64
#define IB_PEER_MEMORY_VER_MAX 16
#define PEER_MEM_U64_CORE_CONTEXT

struct peer_memory_client {
	char name[IB_PEER_MEMORY_NAME_MAX];
	char version[IB_PEER_MEMORY_VER_MAX];
	/* Returns 1 if the whole range is the client's; then release follows. Otherwise 0 or a negative errno. */
	int (*acquire)(unsigned long addr, size_t size, void *unused_data, char *unused_name, void **client_context);
	/* Address and size as passed by the program, with any alignment. */
	int (*get_pages)(unsigned long addr, size_t size, int write, int force, struct sg_table *unused,
			 void *client_context, u64 core_context);
	/* Fills `sg_head` with whole GPU pages; the core trims the first and the last one. */
	int (*dma_map)(struct sg_table *sg_head, void *client_context, struct device *dma_device, int unused,
		       int *count);
	int (*dma_unmap)(struct sg_table *sg_head, void *client_context, struct device *dma_device);
	void (*put_pages)(struct sg_table *sg_head, void *client_context);
	unsigned long (*get_page_size)(void *client_context);
	void (*release)(void *client_context);
};

/* The callback only stops the adapter and drops the addresses; the client unmaps and releases the pages itself. */
enum { PEER_MEM_INVALIDATE_UNMAPS = 1 << 0 };

#endif /* GDRKIT_PEER_MEM_INSTALLED */

/* Stacks before MLNX_OFED 5.1 have only the plain client, and call unmap and put_pages from the callback. */
#if !defined(GDRKIT_PEER_MEM_INSTALLED) || defined(GDRKIT_PEER_MEM_PLAIN)

#ifdef GDRKIT_PEER_MEM_PLAIN
enum { PEER_MEM_INVALIDATE_UNMAPS = 1 << 0 };
#endif

/* The last byte of `version` is 1 if the client has this extension. */
struct peer_memory_client_ex {
	struct peer_memory_client client;
	size_t ex_size;
	u32 flags;
};

#endif

#ifndef GDRKIT_PEER_MEM_INSTALLED

/*
 * Returns after the adapter of that registration has stopped. Before that it may call dma_unmap, put_pages and release,
 * in the caller's thread, or wait for another thread that does.
 */
typedef int (*invalidate_peer_memory)(void *reg_handle, u64 core_context);

/* Returns NULL if refused. A client without `invalidate_callback` must never need to revoke memory. */
void *ib_register_peer_memory_client(const struct peer_memory_client *peer_client,
				     invalidate_peer_memory *invalidate_callback);

/* Returns when no registration of the client is left. */
void ib_unregister_peer_memory_client(void *reg_handle);

#endif /* GDRKIT_PEER_MEM_INSTALLED */

#ifdef PEER_MEM_U64_CORE_CONTEXT
typedef u64 gdrkit_core_context;
#else
typedef void *gdrkit_core_context;
#endif

#endif
