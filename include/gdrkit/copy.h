/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies between host memory and mapped device memory.
 *
 * Offsets are in bytes from the first byte that was passed to gdrkit_pin(). The offset plus the size must not exceed
 * the size that was passed to gdrkit_pin().
 */
#ifndef GDRKIT_COPY_H
#define GDRKIT_COPY_H

#include <gdrkit/pin.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A started copy. */
typedef struct {
  uint64_t value; /**< @brief Never 0 in a valid handle. */
} gdrkit_copy_t;

/** @brief One segment of a copy to the device. */
struct gdrkit_write_segment {
  size_t offset;      /**< @brief Offset of the segment in the pin, in bytes. */
  const void* source; /**< @brief Host memory; may be NULL if size_bytes is 0. */
  size_t size_bytes;  /**< @brief Number of bytes. */
};

/** @brief One segment of a copy from the device. */
struct gdrkit_read_segment {
  size_t offset;     /**< @brief Offset of the segment in the pin, in bytes. */
  void* target;      /**< @brief Host memory; may be NULL if size_bytes is 0. */
  size_t size_bytes; /**< @brief Number of bytes. */
};

/**
 * @brief Copies from the host to the device.
 *
 * @param[in] pin         A mapped pin.
 * @param[in] offset      Offset in the pin, in bytes.
 * @param[in] source      Host memory; may be NULL if `size_bytes` is 0.
 * @param[in] size_bytes  Number of bytes.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: the range is not inside the pin, `source` is NULL and `size_bytes` is not 0, the pin is not
 *           mapped, or the handle is invalid.
 *         - -ETIMEDOUT: the GPU did not complete the copy in 60 s; see gdrkit_map().
 *         - -EOPNOTSUPP: the named engine cannot perform this copy.
 *         - Another errno for a CUDA error, with a named engine; see gdrkit_map().
 * @note On return, the call's stores have been flushed from this core's write-combining buffers. If another
 *       engine performed the copy, the copy is complete. Writes by one thread become visible to the device in call
 *       order. Earlier stores by the caller to host memory are ordered before a write only if the caller executes a
 *       store fence (_mm_sfence) or another gdrkit_write() in between.
 * @note When the CPU performs the copy, the call makes no system call, takes no lock and allocates nothing.
 *
 * @code{.c}
 * int announce(gdrkit_pin_t pin, const void* data, size_t size_bytes) {
 *   const uint32_t flag = 1;
 *   int error = gdrkit_write(pin, 64, data, size_bytes);
 *   return error != 0 ? error : gdrkit_write(pin, 0, &flag, sizeof flag);
 * }
 * @endcode
 */
int gdrkit_write(gdrkit_pin_t pin, size_t offset, const void* source, size_t size_bytes);

/**
 * @brief Copies from the device to the host.
 *
 * @param[in]  pin         A mapped pin.
 * @param[in]  offset      Offset in the pin, in bytes.
 * @param[out] target      Host memory; may be NULL if `size_bytes` is 0.
 * @param[in]  size_bytes  Number of bytes.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: the range is not inside the pin, `target` is NULL and `size_bytes` is not 0, the pin is not
 *           mapped, or the handle is invalid.
 *         - -ETIMEDOUT: the GPU did not complete the copy in 60 s; see gdrkit_map().
 *         - -EOPNOTSUPP: the named engine cannot perform this copy.
 *         - Another errno for a CUDA error, with a named engine; see gdrkit_map().
 * @note The call returns data at least as recent as its start. A naturally aligned read of 1, 2, 4 or 8 bytes, such as
 *       a flag, has acquire semantics: the caller's later loads are ordered after it. The fences for this take
 *       0.02 to 0.03 us; such a read takes 1.05 us in total (H100). gdr_copy_from_mapping() of the drop-in library
 *       omits them.
 * @note When the CPU performs the copy, the call makes no system call, takes no lock and allocates nothing.
 */
int gdrkit_read(gdrkit_pin_t pin, size_t offset, void* target, size_t size_bytes);

/**
 * @brief Copies several segments to the device, in any order.
 *
 * Engines other than the CPU may copy the segments concurrently.
 *
 * @param[in] pin       A mapped pin.
 * @param[in] segments  Array of `count` segments; may be NULL if `count` is 0.
 * @param[in] count     Number of segments.
 *
 * @return 0 when all segments are complete, else a negative errno:
 *         - -EINVAL: a segment is invalid (gdrkit_write() lists the reasons); nothing was copied.
 *         - -ENOMEM: out of memory; nothing was copied.
 *         - Other errors of gdrkit_write(); some segments may have been copied.
 */
int gdrkit_write_segments(gdrkit_pin_t pin, const struct gdrkit_write_segment* segments, size_t count);

/**
 * @brief Copies several segments from the device, in any order.
 *
 * Engines other than the CPU may copy the segments concurrently.
 *
 * @param[in] pin       A mapped pin.
 * @param[in] segments  Array of `count` segments; may be NULL if `count` is 0.
 * @param[in] count     Number of segments.
 *
 * @return 0 when all segments are complete, else a negative errno:
 *         - -EINVAL: a segment is invalid (gdrkit_read() lists the reasons); nothing was copied.
 *         - -ENOMEM: out of memory; nothing was copied.
 *         - Other errors of gdrkit_read(); some segments may have been copied.
 */
int gdrkit_read_segments(gdrkit_pin_t pin, const struct gdrkit_read_segment* segments, size_t count);

/**
 * @brief Starts a copy to the device, which is complete when gdrkit_finish_copy() returns.
 *
 * @param[in]  pin       A mapped pin.
 * @param[in]  segments  Array of `count` segments; it may be reused when the call returns.
 * @param[in]  count     Number of segments.
 * @param[out] copy      Receives the handle, which must be passed to gdrkit_finish_copy().
 *
 * @return 0 on success, else a negative errno, and nothing was copied:
 *         - -EINVAL: `copy` is NULL, or a segment is invalid (gdrkit_write() lists the reasons).
 *         - -ENOMEM: out of memory.
 * @note Until the copy is finished, neither the caller nor a GPU kernel may write the source or the target, and the
 *       target must not be read.
 * @note Copies that the engine cannot perform asynchronously, such as small copies and copies by the CPU, are performed
 *       in this call or in gdrkit_finish_copy().
 *
 * @code{.c}
 * int write_while_computing(gdrkit_pin_t pin, const void* data, size_t size_bytes, void (*compute)(void)) {
 *   struct gdrkit_write_segment piece;
 *   gdrkit_copy_t copy;
 *   int error;
 *   piece.offset = 0;
 *   piece.source = data;
 *   piece.size_bytes = size_bytes;
 *   error = gdrkit_start_write(pin, &piece, 1, &copy);
 *   if (error != 0) return error;
 *   compute();
 *   return gdrkit_finish_copy(copy);
 * }
 * @endcode
 */
int gdrkit_start_write(gdrkit_pin_t pin, const struct gdrkit_write_segment* segments, size_t count,
                       gdrkit_copy_t* copy);

/**
 * @brief Starts a copy from the device, which is complete when gdrkit_finish_copy() returns.
 *
 * @param[in]  pin       A mapped pin.
 * @param[in]  segments  Array of `count` segments; it may be reused when the call returns.
 * @param[in]  count     Number of segments.
 * @param[out] copy      Receives the handle, which must be passed to gdrkit_finish_copy().
 *
 * @return 0 on success, else a negative errno, and nothing was copied:
 *         - -EINVAL: `copy` is NULL, or a segment is invalid (gdrkit_read() lists the reasons).
 *         - -ENOMEM: out of memory.
 * @note The notes of gdrkit_start_write() apply.
 */
int gdrkit_start_read(gdrkit_pin_t pin, const struct gdrkit_read_segment* segments, size_t count, gdrkit_copy_t* copy);

/**
 * @brief Reports whether gdrkit_finish_copy() can proceed without waiting for the GPU or for other threads.
 *
 * @param[in] copy  A started copy.
 *
 * @return 1 if gdrkit_finish_copy() would not wait, although it may still copy bytes. 0 if it would wait. -EINVAL: the
 *         handle is invalid.
 */
int gdrkit_is_copy_done(gdrkit_copy_t copy);

/**
 * @brief Waits for a started copy and returns its outcome.
 *
 * @param[in] copy  The copy. The handle is invalid afterwards, even on error.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: the handle is invalid, or a named engine found that the device memory was freed.
 *         - Other errors of gdrkit_write() and gdrkit_read(); some segments may have been copied.
 */
int gdrkit_finish_copy(gdrkit_copy_t copy);

#ifdef __cplusplus
}
#endif
#endif
