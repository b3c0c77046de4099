/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * GDRCopy's C API (17 functions, version 2.6), implemented by gdrkit's libgdrapi.so.2. Programs written for GDRCopy's
 * gdrapi.h compile against this header and link or load this library unchanged.
 *
 * Unless said otherwise a function returns 0, or a positive errno. NULL, stale, foreign and twice freed handles return
 * EINVAL. All functions are thread-safe, except that the caller must not unmap, unpin or close a mapping while another
 * thread copies through it or accesses it. In a child made by fork(), copies on inherited handles return EINVAL and all
 * other calls EACCES (closing a context without pins succeeds). A child made without fork handlers (_Fork, a bare
 * clone) must not copy through inherited handles: the child does not inherit the mappings.
 *
 * New programs may prefer gdrkit/gdrkit.h: any alignment, reasons for failures, offsets instead of page arithmetic. */
#ifndef __GDRAPI_H__
#define __GDRAPI_H__

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Packagers read these two lines with awk: keep the form. */
#define GDR_API_MAJOR_VERSION 2
#define GDR_API_MINOR_VERSION 6
#define MAJOR_VERSION_SHIFT 16
#define MINOR_VERSION_MASK 0xffff
#define GDR_API_VERSION ((GDR_API_MAJOR_VERSION << MAJOR_VERSION_SHIFT) | GDR_API_MINOR_VERSION)

/* Oldest gdrdrv kernel module that API 2.6 works with. */
#define MINIMUM_GDRDRV_MAJOR_VERSION 2
#define MINIMUM_GDRDRV_MINOR_VERSION 0
#define MINIMUM_GDRDRV_VERSION ((MINIMUM_GDRDRV_MAJOR_VERSION << MAJOR_VERSION_SHIFT) | MINIMUM_GDRDRV_MINOR_VERSION)

/* Pinning works on pages of the GPU, 64 KiB each. */
#define GPU_PAGE_SHIFT 16
#define GPU_PAGE_SIZE (1UL << GPU_PAGE_SHIFT)
#define GPU_PAGE_OFFSET (GPU_PAGE_SIZE - 1)
#define GPU_PAGE_MASK (~GPU_PAGE_OFFSET)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gdr* gdr_t;

/* A pinned buffer. Never all zeros when valid. */
typedef struct gdr_mh_s {
  unsigned long h;
} gdr_mh_t;

typedef enum gdr_pin_flags {
  GDR_PIN_FLAG_DEFAULT = 0,
  GDR_PIN_FLAG_FORCE_PCIE = 1 /* map over PCIe even where a coherent link exists; EINVAL where there is no choice */
} gdr_pin_flags_t;

typedef enum gdr_map_flags {
  GDR_MAP_FLAG_DEFAULT = 0,
  GDR_MAP_FLAG_REQ_WC_MAPPING = 1,
  GDR_MAP_FLAG_REQ_CACHE_MAPPING = 2,
  GDR_MAP_FLAG_REQ_DEVICE_MAPPING = 3
} gdr_map_flags_t;

typedef enum gdr_mapping_type {
  GDR_MAPPING_TYPE_NONE = 0,
  GDR_MAPPING_TYPE_WC = 1,
  GDR_MAPPING_TYPE_CACHING = 2,
  GDR_MAPPING_TYPE_DEVICE = 3,
  GDR_MAPPING_TYPE_MAX = 4
} gdr_mapping_type_t;

typedef enum gdr_attr {
  GDR_ATTR_USE_PERSISTENT_MAPPING = 1,      /* 1: mappings keep the memory after its owner freed it */
  GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE = 2, /* 1: GDR_PIN_FLAG_FORCE_PCIE is served */
  GDR_ATTR_USING_DMA_BUF_MMAP = 3,          /* 1: mappings are made from a dma-buf */
  GDR_ATTR_MAX = 4
} gdr_attr_t;

typedef struct gdr_info_v2 {
  uint64_t va;          /* device address of the first pinned page; gdr_map's pointer stands for it */
  uint64_t mapped_size; /* bytes pinned, a multiple of page_size */
  uint32_t page_size;
  uint64_t tm_cycles;              /* always 0: deprecated by GDRCopy */
  uint32_t cycles_per_ms;          /* always 0: deprecated by GDRCopy */
  unsigned mapped : 1;             /* mapped now */
  unsigned wc_mapping : 1;         /* mapped write-combining */
  gdr_mapping_type_t mapping_type; /* GDR_MAPPING_TYPE_NONE when not mapped */
} gdr_info_v2_t;
typedef gdr_info_v2_t gdr_info_t;

/* Opens a context, or returns NULL with the reason in errno. Silent: set GDRCOPY_ENABLE_LOGGING to see on stderr why
 * each way to the memory cannot be used. GDRCOPY_USE_DMABUF_MMAP=1 insists on dma-buf mappings. */
gdr_t gdr_open(void);
/* Unmaps and unpins what is left, to the end; returns the first error. The handle is dead either way. */
int gdr_close(gdr_t g);

/* Pins the 64 KiB pages around [addr, addr + size). The tokens are accepted and not used. */
int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t p2p_token, uint32_t va_space, gdr_mh_t* handle);
/* `flags` is of gdr_pin_flags_t; bits not defined there are ignored. */
int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t* handle);
/* Unmaps if need be. */
int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle);
/* *flag = 1 once the owner freed the memory and the mapping lost it; 0 with persistent mappings. */
int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int* flag);

/* The library also has a function called gdr_get_info, for programs built before API 2.4: it fills the 40 bytes that
 * were the struct then. In source code the name means the struct above. */
int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t* info);
#define gdr_get_info gdr_get_info_v2

/* Maps the first `size` bytes of the pinned pages; *va is the first of them. EINVAL if the pinned address was not 64
 * KiB aligned, EAGAIN if mapped already, EOPNOTSUPP if the mapping type asked for cannot be had. */
int gdr_map(gdr_t g, gdr_mh_t handle, void** va, size_t size);
/* `flags` is one of gdr_map_flags_t. */
int gdr_map_v2(gdr_t g, gdr_mh_t handle, void** va, size_t size, int flags);
/* Unmaps all of the mapping that starts at `va`, whatever `size` > 0 says. */
int gdr_unmap(gdr_t g, gdr_mh_t handle, void* va, size_t size);

/* Copies between ordinary memory and the mapping; the mapping's side must lie inside it (EINVAL else). A store has left
 * this CPU core when the call returns; a load returns data no older than the call. No system call, lock or allocation.
 * What the caller stored to host memory before is ordered before a store through the mapping only by a store fence of
 * the caller's own (_mm_sfence) between the two, or by an earlier call of this function between the two. */
int gdr_copy_to_mapping(gdr_mh_t handle, void* map_d_ptr, const void* h_ptr, size_t size);
int gdr_copy_from_mapping(gdr_mh_t handle, void* h_ptr, const void* map_d_ptr, size_t size);

/* Version of this API in the library; NULL pointers are skipped. */
void gdr_runtime_get_version(int* major, int* minor);
/* Version of the kernel module, or of this API where none is used. */
int gdr_driver_get_version(gdr_t g, int* major, int* minor);

/* An unknown attribute is EINVAL and sets *v to 0. */
int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int* v);
int gdr_get_mapping_type_string(gdr_mapping_type_t mapping_type, const char** str);

#ifdef __cplusplus
}
#endif
#endif
