/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The peer-memory interface of an RDMA core: the installed stack's own header if there is one (kernel/gdrkit_peermem's
 * Kbuild searches for it), otherwise gdrkit's declarations of the same layout.
 *
 * One registration is acquire, get_pages, dma_map, ..., dma_unmap, put_pages, release. Since a client with a callback
 * may call it from get_pages on, the core holds its own lock from get_pages until the adapter can be stopped, and takes
 * it in the callback. Between those two steps a deadlock is possible: a client must not wait for the callback if a call
 * of the core waits for the client.
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
	/* 1: the whole range is the client's, and release will follow. 0 or a negative errno: it is not. */
	int (*acquire)(unsigned long addr, size_t size, void *unused_data, char *unused_name, void **client_context);
	/* Address and size as passed by the program, with any alignment. */
	int (*get_pages)(unsigned long addr, size_t size, int write, int force, struct sg_table *unused,
			 void *client_context, u64 core_context);
	/* Fills `sg_head` with whole GPU pages: the core cuts the first and the last one. */
	int (*dma_map)(struct sg_table *sg_head, void *client_context, struct device *dma_device, int unused,
		       int *count);
	int (*dma_unmap)(struct sg_table *sg_head, void *client_context, struct device *dma_device);
	void (*put_pages)(struct sg_table *sg_head, void *client_context);
	unsigned long (*get_page_size)(void *client_context);
	void (*release)(void *client_context);
};

/* The callback only stops the adapter and drops the addresses; the client unmaps and puts the pages itself. */
enum { PEER_MEM_INVALIDATE_UNMAPS = 1 << 0 };

#endif /* GDRKIT_PEER_MEM_INSTALLED */

/* Stacks before MLNX_OFED 5.1 only support the plain client, and call unmap and put_pages from the callback. */
#if !defined(GDRKIT_PEER_MEM_INSTALLED) || defined(GDRKIT_PEER_MEM_PLAIN)

#ifdef GDRKIT_PEER_MEM_PLAIN
enum { PEER_MEM_INVALIDATE_UNMAPS = 1 << 0 };
#endif

/* Announced by the last byte of `version`, which is then 1. */
struct peer_memory_client_ex {
	struct peer_memory_client client;
	size_t ex_size;
	u32 flags;
};

#endif

#ifndef GDRKIT_PEER_MEM_INSTALLED

/*
 * When it returns, the adapter of that registration has stopped. It may call dma_unmap, put_pages and release before
 * that, in the caller's thread, or find another thread that is about to.
 */
typedef int (*invalidate_peer_memory)(void *reg_handle, u64 core_context);

/* NULL: refused. A client without `invalidate_callback` must never need to revoke memory. */
void *ib_register_peer_memory_client(const struct peer_memory_client *peer_client,
				     invalidate_peer_memory *invalidate_callback);

/* Returns when the client has no registrations any more. */
void ib_unregister_peer_memory_client(void *reg_handle);

#endif /* GDRKIT_PEER_MEM_INSTALLED */

#ifdef PEER_MEM_U64_CORE_CONTEXT
typedef u64 gdrkit_core_context;
#else
typedef void *gdrkit_core_context;
#endif

#endif
