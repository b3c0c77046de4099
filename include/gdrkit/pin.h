/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Pins: device memory that stays in place, so that it can be mapped.
 */
#ifndef GDRKIT_PIN_H
#define GDRKIT_PIN_H

#include <gdrkit/context.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Handle of a pin from gdrkit_pin(). */
typedef struct {
  uint64_t value; /**< @brief Never 0 in a valid handle. */
} gdrkit_pin_t;

/** @brief How the library verified that a mapping refers to the requested memory. */
enum gdrkit_verification {
  GDRKIT_VERIFIED_BY_INTERFACE = 0, /**< @brief The interface of the driver guarantees it. */
  GDRKIT_VERIFIED_CONTENT = 1,      /**< @brief The contents were compared with CUDA's view of them. */
  GDRKIT_VERIFIED_STRUCTURAL = 2,   /**< @brief Too little content to compare; size, address space and device agree. */
  /** @brief As STRUCTURAL; the procedure also located a scratch allocation on this device correctly. */
  GDRKIT_VERIFIED_CALIBRATED = 3
};

/** @brief Description of a pin. */
struct gdrkit_pin_info {
  uint32_t struct_size;     /**< @brief sizeof(struct gdrkit_pin_info). */
  uint32_t page_size_bytes; /**< @brief Size of one pinned page, in bytes. */
  uint64_t page_address;    /**< @brief Device address of the first pinned page. */
  uint64_t page_bytes;      /**< @brief Size of all pinned pages in bytes. */
  uint64_t user_address;    /**< @brief Device address that was passed to gdrkit_pin(). */
  uint64_t user_bytes;      /**< @brief Size that was passed to gdrkit_pin(), in bytes. */
  int32_t is_mapped;        /**< @brief 1: the pin is mapped. */
  int32_t mapping_type;     /**< @brief enum gdrkit_mapping_type; 0 if it is not mapped. */
  int32_t verification;     /**< @brief enum gdrkit_verification; meaningful only if is_mapped is 1. */
  int32_t reserved;         /**< @brief 0. */
  void* address;            /**< @brief CPU address of user_address; NULL if it is not mapped. */
};

/**
 * @brief Pins device memory.
 *
 * @param[in]  context         The context.
 * @param[in]  device_address  Device address of the first byte, of any alignment, not 0.
 * @param[in]  size_bytes      Size in bytes, at least 1. The range lies in one allocation of device memory.
 * @param[out] pin             Receives the handle.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: `pin` is NULL, the size is 0, the range is not device memory or exceeds its allocation, or the
 *           context handle is invalid.
 *         - -EOPNOTSUPP: the backend cannot pin this kind of memory.
 *         - -ENOMEM: out of memory, handles or BAR1 space.
 *         - -EIO: the driver describes the memory in an unexpected way.
 *         - -EACCES: the context belongs to the parent process, or the driver denies access.
 *         - Another errno for a driver error; gdrkit_last_error() contains the driver's code.
 * @note The owner may free the memory while it is pinned; see gdrkit_is_invalidated().
 */
int gdrkit_pin(gdrkit_context_t context, uint64_t device_address, size_t size_bytes, gdrkit_pin_t* pin);

/**
 * @brief Unpins memory. Unmaps it first if it is mapped.
 *
 * @param[in] pin  The pin. The handle is invalid afterwards, even on error.
 *
 * @return 0 on success, else a negative errno. Cleanup continues after an error; the first error is returned.
 *         - -EINVAL: the handle is invalid.
 *         - -EACCES: the pin belongs to the parent process.
 */
int gdrkit_unpin(gdrkit_pin_t pin);

/**
 * @brief Describes a pin. Makes no system call.
 *
 * @param[in]  pin   The pin.
 * @param[out] info  Receives the description; set its struct_size before the call.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: `info` is NULL, its struct_size is invalid, or the handle is invalid.
 *         - -EACCES: the pin belongs to the parent process.
 *
 * @code{.c}
 * uint64_t pinned_bytes(gdrkit_pin_t pin) {
 *   struct gdrkit_pin_info info;
 *   memset(&info, 0, sizeof info);
 *   info.struct_size = sizeof info;
 *   return gdrkit_get_pin_info(pin, &info) == 0 ? info.page_bytes : 0;
 * }
 * @endcode
 */
int gdrkit_get_pin_info(gdrkit_pin_t pin, struct gdrkit_pin_info* info);

/**
 * @brief Reports whether the mapping was invalidated because the owner freed the memory. Makes one system call.
 *
 * With a persistent backend (gdrkit_context_info.is_persistent), the memory is kept, with two exceptions: the kernel
 * module could not pin it persistently, or it is mapped at its device address (below). In the first case, gdrkit_map()
 * returns -EINVAL, and each CPU access through the mapping raises SIGBUS, including those of gdrkit_write() and
 * gdrkit_read(). The same applies to a backend that is not persistent. gdrkit_unmap(), gdrkit_unpin() and
 * gdrkit_close() still work.
 *
 * On coherent platforms, memory is mapped at its device address if CUDA lets the CPU access it. With every backend,
 * even a persistent one, freeing the memory invalidates such a mapping. The function then returns 1, and an access
 * raises SIGSEGV or reaches memory that CUDA has since allocated there.
 *
 * @param[in] pin  The pin.
 *
 * @return 1 if the mapping was invalidated, 0 if it was not, else a negative errno:
 *         - -EINVAL: the handle is invalid.
 *         - -EACCES: the pin belongs to the parent process.
 *         - -EIO: the state of the pin cannot be read from the kernel module.
 */
int gdrkit_is_invalidated(gdrkit_pin_t pin);

#ifdef __cplusplus
}
#endif
#endif
