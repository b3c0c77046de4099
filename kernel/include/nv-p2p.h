/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's driver's interface for other modules to GPU memory on the PCI bus: gdrkit's own declarations, so that the
 * modules build without the driver's source. Names, numbers and layouts are the driver's, and
 * kernel/check_nvidia_symbols compares them with a driver's source tree. A different layout is detected at run time by
 * the version word of each table (see p2p_table.h), never assumed.
 *
 * All functions may sleep. Addresses and lengths are multiples of 64 KiB, otherwise the result is -EINVAL.
 *
 * Behaviour of the driver that its header does not document (open modules 595.45.04: kernel-open/nvidia/nv-p2p.c, and
 * p2p.c and third_party_p2p.c in src/nvidia/src/kernel/gpu/bus):
 * - Without tokens, get and put search the objects of the *calling* process (tgid). A put by any other process finds
 *   nothing and returns 0: the pin stays, and so does its callback.
 * - A put is matched by the pointer of the table; the address is ignored. A table that a callback has freed may be
 *   allocated again at the same address, by any module, for another pin of the process.
 * - Processes that share one object of the driver (MPS) find each other's pins.
 * - With a token, a put that finds nothing frees the table once more. Therefore no token is passed.
 * - put_pages_persistent drops its reference on the GPU regardless of its result, and works from any process.
 */
#ifndef GDRKIT_NV_P2P_H
#define GDRKIT_NV_P2P_H

#include <linux/types.h>

struct pci_dev;

enum nvidia_p2p_page_size_type {
	NVIDIA_P2P_PAGE_SIZE_4KB = 0,
	NVIDIA_P2P_PAGE_SIZE_64KB,
	NVIDIA_P2P_PAGE_SIZE_128KB,
	NVIDIA_P2P_PAGE_SIZE_COUNT
};

typedef struct nvidia_p2p_page {
	u64 physical_address;
	/* Once contained request registers of one GPU generation; unused since, but part of the stride. */
	union nvidia_p2p_request_registers {
		struct {
			u32 wreqmb_h;
			u32 rreqmb_h;
			u32 rreqmb_0;
			u32 reserved[3];
		} fermi;
	} registers;
} nvidia_p2p_page_t;

/* Versions: major << 16 | minor. 1.2 up to driver 575, 2.0 from 580 on. The word `flags` exists in 1.3 and in 2.0. */
#define NVIDIA_P2P_PAGE_TABLE_VERSION 0x00020000

/* Bit of nvidia_p2p_page_table.flags: the CPU may map these pages cached (coherent platforms). */
#define NVIDIA_P2P_PAGE_TABLE_FLAGS_CPU_CACHEABLE 0x1

typedef struct nvidia_p2p_page_table {
	u32 version;
	u32 page_size; /* enum nvidia_p2p_page_size_type */
	struct nvidia_p2p_page **pages;
	u32 entries;
	u8 *gpu_uuid; /* 16 bytes */
	u32 flags;
} nvidia_p2p_page_table_t;

#define NVIDIA_P2P_DMA_MAPPING_VERSION 0x00020003

typedef struct nvidia_p2p_dma_mapping {
	u32 version;
	enum nvidia_p2p_page_size_type page_size_type;
	u32 entries;
	u64 *dma_addresses; /* one for each entry, as the peer device sees it */
	void *private;
	struct pci_dev *pci_dev;
} nvidia_p2p_dma_mapping_t;

/*
 * Pins until put_pages or until the memory is freed. In the second case `free_callback` runs, under locks of the
 * driver. When it returns the table is freed and the pages are reused, so it must first end every use of them. It must
 * not call put_pages, nor wait for a lock that a caller of put_pages holds, because put_pages waits for a callback in
 * progress. A NULL callback is rejected.
 */
int nvidia_p2p_get_pages(u64 p2p_token, u32 va_space, u64 virtual_address, u64 length,
			 struct nvidia_p2p_page_table **page_table, void (*free_callback)(void *data), void *data);

/* 0 also if it did nothing: the table does not belong to the calling process, or a callback has taken it. */
int nvidia_p2p_put_pages(u64 p2p_token, u32 va_space, u64 virtual_address, struct nvidia_p2p_page_table *page_table);

/* Called from a free callback to report that the table is no longer used. */
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table);

/* Flags of nvidia_p2p_get_pages_persistent. The second is supported from driver 570.86.15 on. */
#define NVIDIA_P2P_FLAGS_DEFAULT 0
#define NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING 1

/* Reports that the two persistent functions exist (driver 525.47.22 and later). */
#define NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API 1

/* Pins until put_pages_persistent even if the memory is freed; no callback. -ENOTSUPP on vGPU and MIG. */
int nvidia_p2p_get_pages_persistent(u64 virtual_address, u64 length, struct nvidia_p2p_page_table **page_table,
				    u32 flags);

/* `flags` must be 0. Not to be called again after an error. */
int nvidia_p2p_put_pages_persistent(u64 virtual_address, struct nvidia_p2p_page_table *page_table, u32 flags);

/* -ENOTSUPP for tables pinned with FORCE_BAR1_MAPPING. The driver undoes remaining mappings when the table is freed. */
int nvidia_p2p_dma_map_pages(struct pci_dev *peer, struct nvidia_p2p_page_table *page_table,
			     struct nvidia_p2p_dma_mapping **dma_mapping);

/* 0 also for an unknown mapping. */
int nvidia_p2p_dma_unmap_pages(struct pci_dev *peer, struct nvidia_p2p_page_table *page_table,
			       struct nvidia_p2p_dma_mapping *dma_mapping);

/* Called from a free callback in place of dma_unmap_pages. */
int nvidia_p2p_free_dma_mapping(struct nvidia_p2p_dma_mapping *dma_mapping);

#endif
