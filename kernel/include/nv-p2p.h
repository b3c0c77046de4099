/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's driver exports this interface to other modules for GPU memory on PCI. These are gdrkit's own declarations,
 * so that the modules build without the driver's source. Names, numbers and layouts are the driver's;
 * kernel/check_nvidia_symbols compares them with its source tree. At run time the modules check the version word of
 * each table (p2p_table.h) and reject unsupported layouts.
 *
 * All functions may sleep. Addresses and lengths must be multiples of 64 KiB; otherwise the functions return -EINVAL.
 *
 * Behavior that the driver's header does not document (open modules 595.45.04: kernel-open/nvidia/nv-p2p.c, and p2p.c
 * and third_party_p2p.c in src/nvidia/src/kernel/gpu/bus):
 *   - Without tokens, get and put search the pins of the *calling* process (tgid). A put by another process finds
 *     nothing and returns 0, but the pin and its callback stay.
 *   - A put looks up the table pointer and ignores the address. A table that a callback has freed may be allocated
 *     again at the same address, by any module, for another pin of the process.
 *   - Processes that share one object of the driver (MPS) find each other's pins.
 *   - With a token, a put that finds nothing frees the table a second time. So these modules pass no token.
 *   - put_pages_persistent drops its reference on the GPU even if it fails, and works from any process.
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
	/* Request registers of one GPU generation. Unused now, but part of the stride. */
	union nvidia_p2p_request_registers {
		struct {
			u32 wreqmb_h;
			u32 rreqmb_h;
			u32 rreqmb_0;
			u32 reserved[3];
		} fermi;
	} registers;
} nvidia_p2p_page_t;

/* Versions: major << 16 | minor. 1.2 up to driver 575, 2.0 since 580. The word `flags` exists in 1.3 and in 2.0. */
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
 * Pins memory until put_pages or until the memory is freed. In the latter case `free_callback` runs under locks of the
 * driver. When it returns, the driver frees the table and reuses the pages, so it must first end every use of them. It
 * must not call put_pages or wait for a lock that a caller of put_pages holds, because put_pages waits for a running
 * callback. A NULL callback is rejected.
 */
int nvidia_p2p_get_pages(u64 p2p_token, u32 va_space, u64 virtual_address, u64 length,
			 struct nvidia_p2p_page_table **page_table, void (*free_callback)(void *data), void *data);

/* Also returns 0 if it did nothing: the table is not the calling process's, or a callback has taken it. */
int nvidia_p2p_put_pages(u64 p2p_token, u32 va_space, u64 virtual_address, struct nvidia_p2p_page_table *page_table);

/* Frees the table. Called from a free callback. */
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table);

/* Flags of nvidia_p2p_get_pages_persistent. The second exists since driver 570.86.15. */
#define NVIDIA_P2P_FLAGS_DEFAULT 0
#define NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING 1

/* Indicates that the two persistent functions exist (driver 525.47.22 and later). */
#define NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API 1

/* Pins memory until put_pages_persistent, even if it is freed; no callback. Returns -ENOTSUPP on vGPU and MIG. */
int nvidia_p2p_get_pages_persistent(u64 virtual_address, u64 length, struct nvidia_p2p_page_table **page_table,
				    u32 flags);

/* `flags` must be 0. After an error it must not be called again. */
int nvidia_p2p_put_pages_persistent(u64 virtual_address, struct nvidia_p2p_page_table *page_table, u32 flags);

/* Returns -ENOTSUPP for tables pinned with FORCE_BAR1_MAPPING. The driver undoes remaining mappings with the table. */
int nvidia_p2p_dma_map_pages(struct pci_dev *peer, struct nvidia_p2p_page_table *page_table,
			     struct nvidia_p2p_dma_mapping **dma_mapping);

/* Also returns 0 for a mapping that does not exist (any more). */
int nvidia_p2p_dma_unmap_pages(struct pci_dev *peer, struct nvidia_p2p_page_table *page_table,
			       struct nvidia_p2p_dma_mapping *dma_mapping);

/* Called from a free callback instead of dma_unmap_pages. */
int nvidia_p2p_free_dma_mapping(struct nvidia_p2p_dma_mapping *dma_mapping);

#endif
