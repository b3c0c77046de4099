/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Symmetric memory and registered buffers. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_MEMORY_H
#define GDRKIT_SHMEM_MEMORY_H

#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_memory Symmetric memory
 * @ingroup shmem
 * @brief Allocation of symmetric objects, and registration of the application's buffers.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * int use_symmetric_memory(void) {
 *   float* row = NULL;
 *   int result = gdrkit_shmem_float_calloc(1000, &row);
 *   if (result != 0) return result; // -ENOMEM: the heap is full; -EPROTO: another PE passed another size
 *   return gdrkit_shmem_free(row);
 * }
 * @endcode
 * @{
 */

/**
 * @brief Allocates a symmetric object. Its contents are undefined.
 * @param[in] size_bytes Size in bytes, at least 1, the same on every PE.
 * @param[out] address Address of the object in the caller's heap, aligned to 256 bytes.
 * @return 0 on success.
 *   - `-EINVAL`: `size_bytes` is 0, or `address` is NULL.
 *   - `-EPROTO`: PEs passed different sizes or called different collective functions.
 *   - `-ENOMEM`: the heap cannot grow further. Existing objects keep their contents.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective. Ends with a barrier.
 */
int gdrkit_shmem_malloc(size_t size_bytes, void** address);

/**
 * @brief Allocates a zeroed symmetric object.
 * @param[in] count Number of elements, at least 1.
 * @param[in] size_bytes Size of an element in bytes, at least 1. `count * size_bytes` is the same on every PE.
 * @param[out] address Address of the object in the caller's heap, aligned to 256 bytes.
 * @return 0, or an error of gdrkit_shmem_malloc(). `-ENOMEM` also if the product exceeds SIZE_MAX.
 * @note Collective. Ends with a barrier.
 */
int gdrkit_shmem_calloc(size_t count, size_t size_bytes, void** address);

/**
 * @brief Allocates an aligned symmetric object. Its contents are undefined.
 * @param[in] alignment Alignment in bytes, a power of two up to 1 GiB, the same on every PE.
 * @param[in] size_bytes Size in bytes, at least 1, the same on every PE.
 * @param[out] address Address of the object in the caller's heap.
 * @return 0, or an error of gdrkit_shmem_malloc().
 *   - `-EINVAL`: also for an invalid alignment.
 * @note Collective. Ends with a barrier.
 */
int gdrkit_shmem_align(size_t alignment, size_t size_bytes, void** address);

/**
 * @brief Frees a symmetric object.
 *
 * Completes this PE's earlier puts, then waits for all PEs, then frees the object.
 * @param[in] address Address from an allocation of this PE, or NULL, which does nothing.
 * @return 0 on success.
 *   - `-EINVAL`: no symmetric object starts at `address`.
 *   - `-EPROTO`: PEs passed different objects or called different collective functions.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective, unless `address` is NULL.
 */
int gdrkit_shmem_free(void* address);

/**
 * @brief Returns the address at which this process's GPU accesses a PE's copy of an object by loads and stores.
 * @param[in] address Address in the caller's heap.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[out] pointer Address of the copy.
 * @return 0 on success.
 *   - `-EOPNOTSUPP`: this GPU has no direct access to the memory of `pe`, because it is on another node.
 *   - `-EINVAL`: `pe` is out of range, or `address` is not in a symmetric object.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_ptr(const void* address, int pe, void** pointer);

/**
 * @brief Registers a local buffer, so that transfers need not query the driver for the type of its memory.
 *
 * Unregister the buffer before freeing it.
 * @param[in] address Start of the buffer: host memory, or memory of the PE's GPU outside the symmetric heap.
 * @param[in] size_bytes Size in bytes, at least 1.
 * @return 0 on success.
 *   - `-EEXIST`: the buffer overlaps a buffer from gdrkit_shmem_buffer_register().
 *   - `-EINVAL`: the range is empty, exceeds its allocation, is symmetric, or is memory of another GPU.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_buffer_register(const void* address, size_t size_bytes);

/**
 * @brief Unregisters a local buffer.
 * @param[in] address Start of the buffer.
 * @return 0 on success.
 *   - `-EINVAL`: no registered buffer starts at `address`.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_buffer_unregister(const void* address);

/**
 * @brief Unregisters all local buffers of the PE, but not symmetric ones.
 * @return 0, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_buffer_unregister_all(void);

/**
 * @brief Makes GPU memory of the application symmetric, without a copy.
 *
 * The memory must come from cuMemCreate with the handle type CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, and `buffer`
 * must be the start of its allocation. Memory from cudaMalloc and host memory cannot be shared. The other PEs map the
 * whole allocation, but calls reject accesses beyond `size_bytes`. The address range counts towards `heap_max_bytes`.
 * The memory exists until it is unregistered or the PE is finalized, even if the caller frees its own mapping.
 * @param[in] buffer Start of the memory on the PE's GPU.
 * @param[in] size_bytes Size in bytes, at least 1, the same on every PE.
 * @param[out] address Symmetric address of the memory, for all calls and for GPU kernels.
 * @return 0 on success. All PEs return an error if one PE fails; the error message names the first such PE.
 *   - `-EOPNOTSUPP`: the memory cannot be shared.
 *   - `-EEXIST`: the buffer overlaps another symmetric buffer.
 *   - `-EINVAL`: `buffer` is not the start of an allocation, is symmetric, or is memory of another GPU.
 *   - `-EPROTO`: PEs passed different sizes, or allocations of different sizes.
 *   - `-ENOMEM`: the heap's address range is full.
 *   - `-ENOSPC`: too many buffers are registered.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective. Ends with a barrier.
 */
int gdrkit_shmem_buffer_register_symmetric(void* buffer, size_t size_bytes, void** address);

/**
 * @brief Ends a registration of gdrkit_shmem_buffer_register_symmetric().
 *
 * Completes this PE's earlier puts, then waits for all PEs, then unmaps the buffer. No PE may access the symmetric
 * address afterwards.
 * @param[in] address Symmetric address from the registration.
 * @return 0 on success.
 *   - `-EINVAL`: no registered buffer starts at `address`.
 *   - `-EPROTO`: PEs passed different buffers or called different collective functions.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective.
 */
int gdrkit_shmem_buffer_unregister_symmetric(void* address);

#ifdef GDRKIT_DOXYGEN
/**
 * @brief Allocates zeroed symmetric elements of a type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[in] count Number of elements, at least 1, the same on every PE.
 * @param[out] address Address of the first element in the caller's heap, aligned to 256 bytes.
 * @return 0, or an error of gdrkit_shmem_malloc().
 * @note Collective. Ends with a barrier.
 */
static inline int gdrkit_shmem_TYPENAME_calloc(size_t count, TYPE** address);
#else
#define GDRKIT_SHMEM_DEFINE_CALLOC(name, type)                                                     \
  static inline int gdrkit_shmem_##name##_calloc(size_t count, type** address) {                   \
    void* memory = NULL;                                                                           \
    const int result = gdrkit_shmem_calloc(count, sizeof(type), address == NULL ? NULL : &memory); \
    if (result == 0) *address = GDRKIT_SHMEM_CAST(type*, memory);                                  \
    return result;                                                                                 \
  }
GDRKIT_SHMEM_FOR_EACH_TYPE(GDRKIT_SHMEM_DEFINE_CALLOC)
#undef GDRKIT_SHMEM_DEFINE_CALLOC
#endif

/** @} */

#ifdef __cplusplus
}
#endif
#endif
