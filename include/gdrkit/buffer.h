/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Buffers: device memory for programs without CUDA code, such as examples and tests.
 *
 * gdrkit_pin() treats this memory like memory from cudaMalloc, cuMemCreate or a memory pool.
 */
#ifndef GDRKIT_BUFFER_H
#define GDRKIT_BUFFER_H

#include <gdrkit/context.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Handle of a buffer from gdrkit_buffer_allocate(). */
typedef struct {
  uint64_t value; /**< @brief Never 0 in a valid handle. */
} gdrkit_buffer_t;

/** @brief Description of a buffer. */
struct gdrkit_buffer_info {
  uint32_t struct_size;    /**< @brief sizeof(struct gdrkit_buffer_info). */
  int32_t device;          /**< @brief CUDA device ordinal. */
  uint64_t device_address; /**< @brief Device address of the first byte, as gdrkit_pin() takes it. */
  uint64_t size_bytes;     /**< @brief Size in bytes. */
};

/**
 * @brief Allocates device memory. Its contents are undefined.
 *
 * @param[in]  context     The context.
 * @param[in]  device      CUDA device ordinal, from 0; CUDA_VISIBLE_DEVICES renumbers the devices.
 * @param[in]  size_bytes  Size in bytes, at least 1.
 * @param[out] buffer      Receives the handle.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: `buffer` is NULL, `size_bytes` is 0, or the context handle is invalid.
 *         - -ENODEV: the device does not exist.
 *         - -ENOMEM: out of device memory, host memory or handles.
 *         - -EIO: the backend allocated something other than what was requested.
 *         - -EACCES: the context belongs to the parent process.
 *         - Another errno if CUDA fails; gdrkit_last_error() contains CUDA's error.
 * @note On a GPU, this initializes CUDA and retains the device's primary context (the one that the CUDA runtime uses)
 *       until the buffer is freed. The calling thread's current context does not change.
 *
 * @code{.c}
 * int allocate_and_pin(gdrkit_context_t context, gdrkit_pin_t* pin) {
 *   gdrkit_buffer_t buffer;
 *   struct gdrkit_buffer_info info;
 *   int error = gdrkit_buffer_allocate(context, 0, 65536, &buffer);
 *   memset(&info, 0, sizeof info);
 *   info.struct_size = sizeof info;
 *   if (error == 0) error = gdrkit_buffer_get_info(buffer, &info);
 *   if (error == 0) error = gdrkit_pin(context, info.device_address, (size_t)info.size_bytes, pin);
 *   return error;
 * }
 * @endcode
 */
int gdrkit_buffer_allocate(gdrkit_context_t context, int device, size_t size_bytes, gdrkit_buffer_t* buffer);

/**
 * @brief Frees a buffer. gdrkit_close() frees the remaining buffers of its context.
 *
 * @param[in] buffer  The buffer. The handle is invalid afterwards, even if CUDA fails.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: the handle is invalid.
 *         - -EACCES: the buffer belongs to the parent process.
 *         - Another errno if CUDA fails.
 * @note Pins of the memory are not unpinned, but their mappings may lose the memory, as after cudaFree; see
 *       gdrkit_is_invalidated().
 */
int gdrkit_buffer_free(gdrkit_buffer_t buffer);

/**
 * @brief Describes a buffer.
 *
 * @param[in]  buffer  The buffer.
 * @param[out] info    Receives the description; set its struct_size before the call.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: `info` is NULL, its struct_size is invalid, or the handle is invalid.
 *         - -EACCES: the buffer belongs to the parent process.
 */
int gdrkit_buffer_get_info(gdrkit_buffer_t buffer, struct gdrkit_buffer_info* info);

/**
 * @brief Copies from the host to a buffer through the CUDA driver, and returns when the copy is complete.
 *
 * @param[in] buffer      The buffer.
 * @param[in] offset      In bytes; offset plus size is at most the size of the buffer.
 * @param[in] source      Host memory; may be NULL if `size_bytes` is 0.
 * @param[in] size_bytes  Number of bytes.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: the range is not inside the buffer, `source` is NULL and `size_bytes` is not 0, or the handle is
 *           invalid.
 *         - -EACCES: the buffer belongs to the parent process.
 *         - Another errno if CUDA fails.
 * @note Does not wait for other work on the GPU.
 */
int gdrkit_buffer_copy_from_host(gdrkit_buffer_t buffer, size_t offset, const void* source, size_t size_bytes);

/**
 * @brief Copies from a buffer to the host through the CUDA driver, and returns when the copy is complete.
 *
 * The result is what the GPU sees, which a test may compare with what the CPU wrote through a mapping.
 *
 * @param[in]  buffer      The buffer.
 * @param[in]  offset      In bytes; offset plus size is at most the size of the buffer.
 * @param[out] target      Host memory; may be NULL if `size_bytes` is 0.
 * @param[in]  size_bytes  Number of bytes.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: the range is not inside the buffer, `target` is NULL and `size_bytes` is not 0, or the handle is
 *           invalid.
 *         - -EACCES: the buffer belongs to the parent process.
 *         - Another errno if CUDA fails.
 * @note Does not wait for other work on the GPU.
 */
int gdrkit_buffer_copy_to_host(gdrkit_buffer_t buffer, size_t offset, void* target, size_t size_bytes);

#ifdef __cplusplus
}
#endif
#endif
