/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The control node /dev/fake_rdma_core: requests of tests to the fake RDMA core. Closing the file deregisters
 * everything that was registered through it, from any step, like the end of a process.
 */
#ifndef GDRKIT_FAKE_RDMA_CORE_IOCTL_H
#define GDRKIT_FAKE_RDMA_CORE_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FAKE_CORE_NODE "/dev/fake_rdma_core"

/*
 * The steps of one registration, in the core's order. A step that the core would not take now fails with EINVAL;
 * otherwise the request succeeds and `result` is the client's return value. After a failure the core undoes the
 * previous steps, and the registration ends.
 */
enum fake_core_step_name {
	FAKE_CORE_ACQUIRE = 0, /* finds a client; result 1, or 0: no client owns the memory. out: id */
	FAKE_CORE_GET_PAGES, /* takes the mapping lock, if the client can invalidate */
	FAKE_CORE_DMA_MAP,
	FAKE_CORE_ACTIVATE, /* gives the adapter its addresses, allows invalidations (releases the mapping lock) */
	FAKE_CORE_STOP, /* stops the adapter. Without INVALIDATE_UNMAPS also the next two, under the mapping lock */
	FAKE_CORE_DMA_UNMAP, /* 0 also if an invalidation made it unnecessary */
	FAKE_CORE_PUT_PAGES, /* the same */
	FAKE_CORE_RELEASE,
	FAKE_CORE_REGISTER, /* the first four at once */
	FAKE_CORE_DEREGISTER, /* the remaining steps of the next four */
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

/* The ranges that the adapter can access now. */
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

enum fake_core_knob {
	FAKE_CORE_REFUSE_CLIENTS = 0, /* non-zero: ib_register_peer_memory_client returns NULL */
	FAKE_CORE_NOT_PCI, /* non-zero: the adapter is not a PCI device */
	FAKE_CORE_KNOBS
};

struct fake_core_setting {
	__u32 knob;
	__u32 value;
};

/* Failures of the core's own: the nth from now (1: the next) fails with ENOMEM. */
enum fake_core_point {
	FAKE_CORE_FAIL_MEMORY = 0, /* after acquire */
	FAKE_CORE_FAIL_CONTEXT, /* in get_pages, before the client is called */
	FAKE_CORE_FAIL_ADAPTER, /* in activate: everything is mapped, and the adapter fails */
	FAKE_CORE_POINTS
};

struct fake_core_failure {
	__u32 point;
	__u32 nth; /* 0: disarm */
};

/* Moments at which an invalidation can be made to wait. */
enum fake_core_moment {
	FAKE_CORE_INVALIDATE_ENTER = 0, /* in the client's callback, before the mapping lock */
	FAKE_CORE_INVALIDATE_LEAVE, /* the adapter has stopped, but the client has not been notified */
	FAKE_CORE_MOMENTS
};

enum fake_core_pause_action { FAKE_CORE_PAUSE_ARM = 0, FAKE_CORE_PAUSE_AWAIT, FAKE_CORE_PAUSE_RESUME };

struct fake_core_pause {
	__u32 moment;
	__u32 action;
	__u32 timeout_ms; /* of the second action */
	__u32 pad;
};

struct fake_core_report {
	/* Live objects: all zero if nothing has leaked. */
	__u64 registrations;
	__u64 mapped;
	__u64 active; /* adapters that have addresses */
	/* Counted since FAKE_CORE_IOC_RESET. */
	__u64 clients; /* registered now; not reset */
	__u64 invalidations;
	__u64 invalidations_late; /* the registration had already ended */
	__u64 stopped_by_invalidation;
	__u64 acquires, gets, maps, unmaps, puts, releases; /* calls to a client */
	/* A client's mistakes: always zero for a sound one. Each one is also printed at error level. */
	__u64 mistakes;
};

#define FAKE_CORE_IOC_STEP _IOWR('k', 1, struct fake_core_step)
#define FAKE_CORE_IOC_ADDRESSES _IOWR('k', 2, struct fake_core_addresses)
#define FAKE_CORE_IOC_SET _IOW('k', 3, struct fake_core_setting)
#define FAKE_CORE_IOC_FAIL _IOW('k', 4, struct fake_core_failure)
#define FAKE_CORE_IOC_PAUSE _IOW('k', 5, struct fake_core_pause)
#define FAKE_CORE_IOC_REPORT _IOR('k', 6, struct fake_core_report)
#define FAKE_CORE_IOC_RESET _IO('k', 7)

#endif
