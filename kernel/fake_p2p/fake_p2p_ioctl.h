/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The control node /dev/fake_p2p, for tests and for the faults of the fake RDMA core. read() and write() replace
 * cudaMemcpy: the offset is the GPU address. Closing the file frees its allocations, as the end of a process does.
 */
#ifndef GDRKIT_FAKE_P2P_IOCTL_H
#define GDRKIT_FAKE_P2P_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FAKE_P2P_NODE "/dev/fake_p2p"
#define FAKE_P2P_PAGE 65536ULL
/* DMA address = physical address + this, to detect clients that confuse them. */
#define FAKE_P2P_DMA_OFFSET 0x100000000000ULL

enum fake_p2p_layout {
	FAKE_P2P_CONTIGUOUS = 0,
	FAKE_P2P_REVERSED, /* no two adjacent pages in ascending order */
	FAKE_P2P_RUNS, /* runs of three contiguous pages, then a gap */
	FAKE_P2P_LAYOUTS
};

struct fake_p2p_alloc {
	__u64 size; /* rounded up to 64 KiB */
	__u32 layout;
	__u32 pad;
	__u64 va; /* out */
};

struct fake_p2p_address {
	__u64 va;
	__u64 physical; /* output of FAKE_P2P_IOC_PHYSICAL */
};

enum fake_p2p_knob {
	FAKE_P2P_TABLE_VERSION = 0, /* default 0x00020000 */
	FAKE_P2P_PAGE_SIZE, /* enum nvidia_p2p_page_size_type, default 1 (64 KiB) */
	FAKE_P2P_TABLE_FLAGS, /* default 0 */
	FAKE_P2P_REFUSE_PERSISTENT, /* positive errno with which get_pages_persistent fails; 0: it succeeds */
	FAKE_P2P_REFUSE_FORCE_BAR1, /* nonzero: unknown flag, as before driver 570 */
	FAKE_P2P_DAMAGE, /* enum fake_p2p_damage */
	FAKE_P2P_MAPPING_VERSION, /* default 0x00020003 */
	FAKE_P2P_MAPPING_DAMAGE, /* enum fake_p2p_damage, for DMA mappings */
	/* Nonzero: a process may pin memory that another one allocated. The driver does not allow this. */
	FAKE_P2P_PIN_FOREIGN_MEMORY,
	FAKE_CORE_REFUSE_CLIENTS, /* nonzero: ib_register_peer_memory_client returns NULL */
	FAKE_CORE_NOT_PCI, /* nonzero: the adapter is not a PCI device */
	FAKE_P2P_KNOBS
};

/* Damage in the tables returned from now on. */
enum fake_p2p_damage {
	FAKE_P2P_SOUND = 0,
	FAKE_P2P_NO_TABLE, /* success with a NULL table */
	FAKE_P2P_NO_PAGES, /* NULL array of pages */
	FAKE_P2P_NO_ENTRIES, /* entries is 0 */
	FAKE_P2P_ONE_SHORT, /* one entry fewer than the length requires */
	FAKE_P2P_ONE_LONG, /* entries is one more than there are */
	FAKE_P2P_HOLE, /* the last page's pointer is NULL */
	FAKE_P2P_MISALIGNED, /* the last page's address is not aligned to 64 KiB */
	FAKE_P2P_TOO_HIGH, /* the last page's address exceeds the address width of any CPU */
	FAKE_P2P_DAMAGES
};

struct fake_p2p_setting {
	__u32 knob;
	__u32 pad;
	__u64 value;
};

enum fake_p2p_call {
	FAKE_P2P_CALL_GET = 0,
	FAKE_P2P_CALL_GET_PERSISTENT,
	FAKE_P2P_CALL_PUT,
	FAKE_P2P_CALL_PUT_PERSISTENT,
	FAKE_P2P_CALL_DMA_MAP,
	FAKE_P2P_CALL_DMA_UNMAP,
	FAKE_P2P_CALLS, /* of the driver; then those of the RDMA core */
	FAKE_CORE_FAIL_MEMORY = FAKE_P2P_CALLS, /* after acquire */
	FAKE_CORE_FAIL_CONTEXT, /* in get_pages, before the client is called */
	FAKE_CORE_FAIL_ADAPTER, /* in activate, after dma_map: the adapter fails */
	FAKE_CALLS
};

/*
 * The nth call from now (1: the next) fails with -error. A failed put keeps the pin. A failed put_pages_persistent
 * still drops its reference on the GPU, as in the driver: the pin is then refused and must not be put again.
 */
struct fake_p2p_failure {
	__u32 call;
	__u32 error; /* positive errno */
	__u64 nth; /* 0: disarm */
};

/* Steps at which a call can be paused, so that a test can run other calls in the meantime. */
enum fake_p2p_step {
	FAKE_P2P_GET_ENTER = 0, /* nothing is done yet */
	FAKE_P2P_GET_LEAVE, /* pinned, before the call returns */
	FAKE_P2P_PUT_ENTER,
	FAKE_P2P_PUT_LEAVE,
	FAKE_P2P_DMA_MAP_ENTER,
	FAKE_P2P_DMA_MAP_LEAVE,
	FAKE_P2P_CALLBACK_ENTER, /* with the resource manager's lock held, as in the driver */
	FAKE_P2P_CALLBACK_LEAVE, /* likewise; put_pages waits */
	FAKE_CORE_INVALIDATE_ENTER, /* in the client's callback, before the mapping lock of the RDMA core */
	FAKE_CORE_INVALIDATE_LEAVE, /* the adapter has stopped; the callback has not returned */
	FAKE_P2P_STEPS
};

enum fake_p2p_pause_action {
	FAKE_P2P_PAUSE_ARM = 0, /* pauses the next call at this step, for at most 20 s */
	FAKE_P2P_PAUSE_AWAIT, /* waits until a call is paused; ETIMEDOUT after timeout_ms */
	FAKE_P2P_PAUSE_RESUME
};

struct fake_p2p_pause {
	__u32 step;
	__u32 action;
	__u32 timeout_ms;
	__u32 pad;
};

struct fake_p2p_report {
	/* Current objects: all zero if nothing has leaked. */
	__u64 allocations;
	__u64 pins;
	__u64 persistent_pins; /* without refused pins */
	__u64 refused_pins; /* persistent pins whose put failed; they cannot be put again */
	__u64 mappings;
	__u64 used_pages; /* of 64 KiB, including freed pages that a persistent pin holds */
	/* Events since the module was loaded or FAKE_P2P_IOC_RESET. */
	__u64 gets;
	__u64 puts;
	__u64 puts_after_callback; /* allowed: found nothing, returned 0 */
	__u64 tables_reused; /* tables allocated at the address of a revoked one */
	__u64 callbacks;
	__u64 freed_in_callback; /* free_page_table calls */
	__u64 freed_after_callback; /* of a revoked pin whose table the client had not received in the callback */
	__u64 maps;
	__u64 total_pages;
	/* Client errors: always zero for a correct client. Each one is also logged at error level. */
	__u64 put_unknown; /* put of a table that was never returned, or was put before */
	__u64 put_wrong; /* put with another address or interface than at get; the pin is released anyway */
	__u64 put_elsewhere; /* put by a process that did not pin: found nothing, returned 0, and the pin stays */
	__u64 put_twice; /* second put_pages_persistent after a refused one: drops another pin's reference */
	__u64 put_with_token; /* the driver frees the table of such a put even if a callback has freed it before */
	__u64 put_in_callback;
	__u64 unmap_wrong;
	__u64 written_after_free; /* a table was modified after its release */
};

#define FAKE_P2P_IOC_ALLOC _IOWR('K', 1, struct fake_p2p_alloc)
#define FAKE_P2P_IOC_FREE _IOW('K', 2, struct fake_p2p_address) /* returns after the callbacks have run */
#define FAKE_P2P_IOC_PHYSICAL _IOWR('K', 3, struct fake_p2p_address)
#define FAKE_P2P_IOC_SET _IOW('K', 4, struct fake_p2p_setting)
#define FAKE_P2P_IOC_FAIL _IOW('K', 5, struct fake_p2p_failure)
#define FAKE_P2P_IOC_PAUSE _IOW('K', 6, struct fake_p2p_pause)
#define FAKE_P2P_IOC_REPORT _IOR('K', 7, struct fake_p2p_report)
#define FAKE_P2P_IOC_RESET _IO('K', 8) /* resets knobs, failures, pauses and event counters; current objects stay */
#define FAKE_P2P_IOC_RELOAD _IO('K', 9) /* drops refused pins, as unloading the driver does */

#endif
