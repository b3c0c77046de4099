/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief GDRCopy's C API (17 functions, version 2.6), implemented by gdrkit's libgdrapi.so.2.
 *
 * Programs written for GDRCopy's gdrapi.h compile with this header, and link or load this library, without changes.
 * New programs may prefer gdrkit/gdrkit.h, which accepts any alignment, returns error messages and uses offsets
 * instead of page arithmetic.
 *
 * Return values: unless its documentation differs, a function returns 0 on success and a positive errno on failure. A
 * handle that is NULL, stale, already freed or from another library is rejected with EINVAL. Set
 * GDRCOPY_ENABLE_LOGGING to log the reasons to stderr.
 *
 * Threads: all functions are thread-safe, with one exception. While a thread copies through a mapping or accesses it,
 * no other thread may unmap, unpin or close it.
 *
 * Forks: in a child made by fork(), copies on inherited handles return EINVAL and all other calls EACCES; closing a
 * context without pins succeeds. A child made without fork handlers (_Fork, a bare clone) must not copy through
 * inherited handles, because it does not inherit the mappings.
 *
 * @code{.c}
 * int store_byte(unsigned long device_address, unsigned char byte) {
 *   void* mapped;
 *   gdr_mh_t handle;
 *   gdr_t g = gdr_open();
 *   int error = g == NULL ? ENODEV : gdr_pin_buffer(g, device_address, GPU_PAGE_SIZE, 0, 0, &handle);
 *   if (error == 0) error = gdr_map(g, handle, &mapped, GPU_PAGE_SIZE);
 *   if (error == 0) error = gdr_copy_to_mapping(handle, mapped, &byte, 1);
 *   if (g != NULL) gdr_close(g);
 *   return error;
 * }
 * @endcode
 */
#ifndef __GDRAPI_H__
#define __GDRAPI_H__

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Packaging scripts read the two version macros with awk: keep their form. */
/** @brief Major version of the API. */
#define GDR_API_MAJOR_VERSION 2
/** @brief Minor version of the API. */
#define GDR_API_MINOR_VERSION 6
/** @brief Position of the major version in a version number. */
#define MAJOR_VERSION_SHIFT 16
/** @brief Bits of the minor version in a version number. */
#define MINOR_VERSION_MASK 0xffff
/** @brief Version of the API as one number. */
#define GDR_API_VERSION ((GDR_API_MAJOR_VERSION << MAJOR_VERSION_SHIFT) | GDR_API_MINOR_VERSION)

/** @brief Major version of the oldest gdrdrv kernel module that API 2.6 works with. */
#define MINIMUM_GDRDRV_MAJOR_VERSION 2
/** @brief Minor version of the oldest gdrdrv kernel module that API 2.6 works with. */
#define MINIMUM_GDRDRV_MINOR_VERSION 0
/** @brief Version of the oldest gdrdrv kernel module as one number. */
#define MINIMUM_GDRDRV_VERSION ((MINIMUM_GDRDRV_MAJOR_VERSION << MAJOR_VERSION_SHIFT) | MINIMUM_GDRDRV_MINOR_VERSION)

/** @brief Binary logarithm of the size of a GPU page, the unit of pinning. */
#define GPU_PAGE_SHIFT 16
/** @brief Size of a GPU page in bytes: 64 KiB. */
#define GPU_PAGE_SIZE (1UL << GPU_PAGE_SHIFT)
/** @brief Bits of an offset inside a GPU page. */
#define GPU_PAGE_OFFSET (GPU_PAGE_SIZE - 1)
/** @brief Bits of the address of a GPU page. */
#define GPU_PAGE_MASK (~GPU_PAGE_OFFSET)

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A context. A valid handle is never NULL. */
typedef struct gdr* gdr_t;

/** @brief A pinned buffer. */
typedef struct gdr_mh_s {
  unsigned long h; /**< @brief Never 0 in a valid handle. */
} gdr_mh_t;

/** @brief Flags of gdr_pin_buffer_v2(). */
typedef enum gdr_pin_flags {
  GDR_PIN_FLAG_DEFAULT = 0,   /**< @brief The backend chooses the path. */
  GDR_PIN_FLAG_FORCE_PCIE = 1 /**< @brief PCIe even if the platform has a coherent link. */
} gdr_pin_flags_t;

/** @brief Flags of gdr_map_v2(). */
typedef enum gdr_map_flags {
  GDR_MAP_FLAG_DEFAULT = 0,           /**< @brief The type that the platform supports best. */
  GDR_MAP_FLAG_REQ_WC_MAPPING = 1,    /**< @brief Write-combining. */
  GDR_MAP_FLAG_REQ_CACHE_MAPPING = 2, /**< @brief Cached by the CPU. */
  GDR_MAP_FLAG_REQ_DEVICE_MAPPING = 3 /**< @brief Neither combined nor cached. */
} gdr_map_flags_t;

/** @brief How the CPU caches a mapping. */
typedef enum gdr_mapping_type {
  GDR_MAPPING_TYPE_NONE = 0,    /**< @brief Not mapped. */
  GDR_MAPPING_TYPE_WC = 1,      /**< @brief Write-combining. */
  GDR_MAPPING_TYPE_CACHING = 2, /**< @brief Cached by the CPU. */
  GDR_MAPPING_TYPE_DEVICE = 3,  /**< @brief Neither combined nor cached. */
  GDR_MAPPING_TYPE_MAX = 4      /**< @brief Number of mapping types. */
} gdr_mapping_type_t;

/** @brief Attributes of gdr_get_attribute(). */
typedef enum gdr_attr {
  GDR_ATTR_USE_PERSISTENT_MAPPING = 1,      /**< @brief 1: mappings keep the memory after its owner frees it. */
  GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE = 2, /**< @brief 1: GDR_PIN_FLAG_FORCE_PCIE is supported. */
  GDR_ATTR_USING_DMA_BUF_MMAP = 3,          /**< @brief 1: mappings are made from a dma-buf. */
  GDR_ATTR_MAX = 4                          /**< @brief Number of attributes plus one. */
} gdr_attr_t;

/** @brief Description of a pinned buffer. */
typedef struct gdr_info_v2 {
  uint64_t va;                     /**< @brief Device address of the first pinned page, where the mapping starts. */
  uint64_t mapped_size;            /**< @brief Bytes pinned, a multiple of page_size. */
  uint32_t page_size;              /**< @brief Size of a page in bytes. */
  uint64_t tm_cycles;              /**< @brief Time of pinning in CPU cycles; 0 if no kernel module measured it. */
  uint32_t cycles_per_ms;          /**< @brief CPU cycles per ms; 0 if no kernel module measured it. */
  unsigned mapped : 1;             /**< @brief 1: mapped now. */
  unsigned wc_mapping : 1;         /**< @brief 1: mapped write-combining. */
  gdr_mapping_type_t mapping_type; /**< @brief GDR_MAPPING_TYPE_NONE if it is not mapped. */
} gdr_info_v2_t;
/** @brief The current description of a pinned buffer. */
typedef gdr_info_v2_t gdr_info_t;

/**
 * @brief Opens a context.
 * @return The context, or NULL with the reason in errno: ENODEV if no backend can run, EINVAL if GDRKIT_BACKEND names
 * an unknown backend, or the errno of the backend that GDRKIT_BACKEND names.
 * @note GDRCOPY_USE_DMABUF_MMAP=1 forces mappings of dma-bufs.
 */
gdr_t gdr_open(void);

/**
 * @brief Unmaps and unpins what is left in a context, then closes it.
 * @param[in] g  The context. The handle is invalid afterwards.
 * @return 0, or the first error: EINVAL: the handle is invalid. EACCES: the context belongs to the parent process.
 */
int gdr_close(gdr_t g);

/**
 * @brief Pins the 64 KiB pages that contain [addr, addr + size).
 * @param[in]  g          The context.
 * @param[in]  addr       Device address.
 * @param[in]  size       Size in bytes, at least 1.
 * @param[in]  p2p_token  Ignored.
 * @param[in]  va_space   Ignored.
 * @param[out] handle     Receives the handle.
 * @return 0, or: EINVAL: an argument is invalid, or the range is not device memory. ENOMEM: out of memory,
 * handles or BAR1 space. EACCES: the context belongs to the parent process.
 */
int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t p2p_token, uint32_t va_space, gdr_mh_t* handle);

/**
 * @brief Pins the 64 KiB pages that contain [addr, addr + size), with flags.
 * @param[in]  g       The context.
 * @param[in]  addr    Device address.
 * @param[in]  size    Size in bytes, at least 1.
 * @param[in]  flags   gdr_pin_flags_t; undefined bits are ignored.
 * @param[out] handle  Receives the handle.
 * @return 0, or the errors of gdr_pin_buffer(). EINVAL also if GDR_PIN_FLAG_FORCE_PCIE is not supported.
 */
int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t* handle);

/**
 * @brief Unpins a buffer. Unmaps it first if it is mapped.
 * @param[in] g       The context.
 * @param[in] handle  The buffer. The handle is invalid afterwards.
 * @return 0, or: EINVAL: a handle is invalid. EACCES: the buffer belongs to the parent process.
 */
int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle);

/**
 * @brief Reports whether the mapping was invalidated because the owner freed the memory.
 * @param[in]  g       The context.
 * @param[in]  handle  The buffer.
 * @param[out] flag    Receives 1 if the mapping was invalidated, else 0. Persistent mappings normally keep the memory;
 * see gdrkit_is_invalidated() in gdrkit/pin.h.
 * @return 0, or: EINVAL: a handle is invalid, or `flag` is NULL. EACCES: the buffer belongs to the parent process.
 */
int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int* flag);

/**
 * @brief Describes a pinned buffer.
 *
 * The library also exports a function named gdr_get_info, for programs built before API 2.4. It fills the 40 bytes that
 * the struct had then. In source code, a macro maps the name gdr_get_info to this function.
 * @param[in]  g       The context.
 * @param[in]  handle  The buffer.
 * @param[out] info    Receives the description.
 * @return 0, or: EINVAL: a handle is invalid, or `info` is NULL. EACCES: the buffer belongs to the parent process.
 */
int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t* info);
/** @brief In source code, gdr_get_info means gdr_get_info_v2(). */
#define gdr_get_info gdr_get_info_v2

/**
 * @brief Maps the first pages of a pinned buffer.
 * @param[in]  g       The context.
 * @param[in]  handle  The buffer.
 * @param[out] va      Receives the CPU address of the first pinned page.
 * @param[in]  size    Bytes to map, 1 to the pinned size.
 * @return 0, or: EINVAL: an argument is invalid, the pinned address is not 64 KiB aligned, GDRKIT_DROPIN_ENGINE
 * has an unknown value, or the memory was freed. EAGAIN: the buffer is mapped already. EOPNOTSUPP: the platform
 * does not support the mapping type. ENOMEM: BAR1 is full. EACCES: the buffer belongs to the parent process.
 */
int gdr_map(gdr_t g, gdr_mh_t handle, void** va, size_t size);

/**
 * @brief Maps the first pages of a pinned buffer, with a mapping type.
 * @param[in]  g       The context.
 * @param[in]  handle  The buffer.
 * @param[out] va      Receives the CPU address of the first pinned page.
 * @param[in]  size    Bytes to map, 1 to the pinned size.
 * @param[in]  flags   One of gdr_map_flags_t.
 * @return 0, or the errors of gdr_map(). EINVAL also if `flags` is not one of gdr_map_flags_t.
 */
int gdr_map_v2(gdr_t g, gdr_mh_t handle, void** va, size_t size, int flags);

/**
 * @brief Unmaps all of a mapping.
 * @param[in] g       The context.
 * @param[in] handle  The buffer.
 * @param[in] va      The address that gdr_map() returned.
 * @param[in] size    Any size above 0; the whole mapping is unmapped.
 * @return 0, or: EINVAL: a handle is invalid, `size` is 0, or the buffer is not mapped at `va`. EACCES: the buffer
 *         belongs to the parent process.
 */
int gdr_unmap(gdr_t g, gdr_mh_t handle, void* va, size_t size);

/**
 * @brief Copies from host memory to a mapping.
 * @param[in]  handle     The buffer.
 * @param[out] map_d_ptr  First byte to store, inside the mapping.
 * @param[in]  h_ptr      Host memory.
 * @param[in]  size       Bytes to copy; the whole range must be inside the mapping. 0 succeeds with any addresses.
 * @return 0, or EINVAL: the handle is invalid, or the range is not inside the mapping. An engine other than the CPU may
 * also fail with another errno, for example ETIMEDOUT.
 * @note The stores have left this CPU core when the call returns. The caller's earlier stores to host memory are
 * ordered before them only by a store fence of the caller (_mm_sfence), or by another call of this function between
 * them.
 * @note Makes no system call, takes no lock and allocates nothing, unless GDRKIT_DROPIN_ENGINE selects an engine other
 * than the CPU.
 */
int gdr_copy_to_mapping(gdr_mh_t handle, void* map_d_ptr, const void* h_ptr, size_t size);

/**
 * @brief Copies from a mapping to host memory.
 * @param[in]  handle     The buffer.
 * @param[out] h_ptr      Host memory.
 * @param[in]  map_d_ptr  First byte to load, inside the mapping.
 * @param[in]  size       Bytes to copy; the whole range must be inside the mapping. 0 succeeds with any addresses.
 * @return 0, or EINVAL: the handle is invalid, or the range is not inside the mapping. An engine other than the CPU may
 * also fail with another errno, for example ETIMEDOUT.
 * @note Each call loads from the device: it never returns what an earlier call left in a buffer of the CPU. Data of
 * more than 64 bytes is no older than the call.
 * @note On x86-64, other loads are ordered as in GDRCopy: the CPU may load up to 64 bytes before an earlier load of the
 * caller, and the caller's later loads may be older than the data. Use _mm_lfence(), or gdrkit_read() of libgdrkit,
 * where that matters. The caller's stores before the call are ordered before those after it.
 * @note Makes no system call, takes no lock and allocates nothing, unless GDRKIT_DROPIN_ENGINE selects an engine other
 * than the CPU.
 */
int gdr_copy_from_mapping(gdr_mh_t handle, void* h_ptr, const void* map_d_ptr, size_t size);

/**
 * @brief Returns the version of this API that the library implements.
 * @param[out] major  Receives the major version; may be NULL.
 * @param[out] minor  Receives the minor version; may be NULL.
 */
void gdr_runtime_get_version(int* major, int* minor);

/**
 * @brief Returns the version of the kernel module, or of this API if no module is used.
 * @param[in]  g      The context.
 * @param[out] major  Receives the major version.
 * @param[out] minor  Receives the minor version.
 * @return 0, or: EINVAL: the handle is invalid, or a pointer is NULL. EACCES: the context belongs to the parent
 * process.
 */
int gdr_driver_get_version(gdr_t g, int* major, int* minor);

/**
 * @brief Returns an attribute of a context.
 * @param[in]  g     The context.
 * @param[in]  attr  One of gdr_attr_t.
 * @param[out] v     Receives the value; 0 for an unknown attribute.
 * @return 0, or: EINVAL: the handle is invalid, the attribute is unknown, or `v` is NULL. EACCES: the context belongs
 * to the parent process.
 */
int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int* v);

/**
 * @brief Returns the name of a mapping type.
 * @param[in]  mapping_type  One of gdr_mapping_type_t.
 * @param[out] str           Receives a static text.
 * @return 0, or EINVAL: the mapping type is unknown, or `str` is NULL.
 */
int gdr_get_mapping_type_string(gdr_mapping_type_t mapping_type, const char** str);

#ifdef __cplusplus
}
#endif
#endif
