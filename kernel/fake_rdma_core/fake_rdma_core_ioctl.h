/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The control node /dev/fake_rdma_core, for tests. Closing the file deregisters everything registered through it, at
 * any step, as the end of a process does.
 */
#ifndef GDRKIT_FAKE_RDMA_CORE_IOCTL_H
#define GDRKIT_FAKE_RDMA_CORE_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FAKE_CORE_NODE "/dev/fake_rdma_core"

/*
 * The steps of a registration, in the core's order. A step that is invalid in the current state fails with EINVAL.
 * Otherwise the request succeeds and `result` is the client's return value. After a failure the core undoes the
 * previous steps and removes the registration.
 */
enum fake_core_step_name {
	FAKE_CORE_ACQUIRE = 0, /* finds a client; result 1, or 0 if no client accepts the memory. Output: id */
	FAKE_CORE_GET_PAGES, /* takes the mapping lock if the client can invalidate */
	FAKE_CORE_DMA_MAP,
	FAKE_CORE_ACTIVATE, /* gives the adapter its addresses and releases the mapping lock */
	FAKE_CORE_STOP, /* stops the adapter; without INVALIDATE_UNMAPS also the next two, under the mapping lock */
	FAKE_CORE_DMA_UNMAP, /* result 0 even if an invalidation has already unmapped */
	FAKE_CORE_PUT_PAGES, /* likewise */
	FAKE_CORE_RELEASE,
	FAKE_CORE_REGISTER, /* the first four */
	FAKE_CORE_DEREGISTER, /* the remaining steps from FAKE_CORE_STOP to FAKE_CORE_RELEASE */
	FAKE_CORE_STEPS
};

struct fake_core_step {
	__u32 name;
	__u32 id;
	__u64 address; /* acquire and register */
	__u64 size;
	__s32 result; /* out */
	__u32 pad;
};

/* A range that the adapter can reach. */
struct fake_core_range {
	__u64 dma_address;
	__u64 size;
};

struct fake_core_addresses {
	__u32 id;
	__u32 capacity; /* of `ranges` */
	__u64 ranges; /* pointer */
	__u32 count; /* out; 0: the adapter is stopped */
	__u32 pad;
};

struct fake_core_report {
	/* Current objects: all zero if nothing has leaked. */
	__u64 registrations;
	__u64 mapped;
	__u64 active; /* adapters that have addresses */
	/* Events since FAKE_CORE_IOC_RESET. */
	__u64 clients; /* currently registered; not reset */
	__u64 invalidations;
	__u64 stopped_by_invalidation;
	__u64 unmaps, puts; /* calls to a client */
	/* Client errors: always zero for a correct client. Each one is also logged at error level. */
	__u64 mistakes;
};

#define FAKE_CORE_IOC_STEP _IOWR('k', 1, struct fake_core_step)
#define FAKE_CORE_IOC_ADDRESSES _IOWR('k', 2, struct fake_core_addresses)
#define FAKE_CORE_IOC_REPORT _IOR('k', 3, struct fake_core_report)
#define FAKE_CORE_IOC_RESET _IO('k', 4)

#endif
