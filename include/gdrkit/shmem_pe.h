/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The PE of a thread and its properties. Included by gdrkit/shmem_job.h.
 */
#ifndef GDRKIT_SHMEM_PE_H
#define GDRKIT_SHMEM_PE_H

#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @addtogroup shmem_job
 * @{
 */

/**
 * @brief Handle of a PE of this process.
 *
 * A process may have several PEs, one per GPU. In a forked child, calls on a PE of the parent return `-EACCES`, except
 * gdrkit_shmem_use(), which returns `-EINVAL`. The exit of the child does not affect these PEs. The child may call
 * gdrkit_shmem_init() to get its own PE. That call ignores the launcher's environment: the job has one PE unless the
 * options set `n_pes`.
 */
typedef struct {
  uint64_t value; /**< Unique in this process; 0: none. */
} gdrkit_shmem_pe_t;

/** @brief Properties of a PE, its node and its heap. */
struct gdrkit_shmem_info {
  uint32_t struct_size;     /**< In: `sizeof(struct gdrkit_shmem_info)`. */
  int32_t pe;               /**< PE number. */
  int32_t n_pes;            /**< Number of PEs of the job. */
  int32_t node_pes;         /**< Number of PEs of the job on this node, including this PE. */
  int32_t device;           /**< CUDA device number. */
  int32_t is_emulated;      /**< 1 for the emulated device, 0 for a GPU. */
  uint64_t heap_address;    /**< Address of the caller's heap. */
  uint64_t heap_bytes;      /**< Memory that the heap has allocated from the GPU. */
  uint64_t heap_max_bytes;  /**< Maximum of `heap_bytes`. */
  uint64_t heap_used_bytes; /**< Memory of the objects in the heap. */
  uint64_t stride_bytes;    /**< Distance between the heaps of PEs of this node in this process's address space. */
};

/**
 * @brief Returns the handle of the calling thread's PE.
 * @param[out] pe The handle.
 * @return 0, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_current(gdrkit_shmem_pe_t* pe);

/**
 * @brief Binds the calling thread to a PE of this process.
 * @param[in] pe Handle from gdrkit_shmem_current().
 * @return 0 on success.
 *   - `-EINVAL`: the PE was finalized, or does not belong to this process.
 */
int gdrkit_shmem_use(gdrkit_shmem_pe_t pe);

/**
 * @brief Returns the number of the calling thread's PE.
 * @return PE number from 0.
 *   - `-EINVAL`, `-EACCES`: see @ref shmem_errors.
 * @note Does not change gdrkit_shmem_last_error().
 */
int gdrkit_shmem_my_pe(void);

/**
 * @brief Returns the number of PEs of the calling thread's job.
 * @return Number of PEs, at least 1.
 *   - `-EINVAL`, `-EACCES`: see @ref shmem_errors.
 * @note Does not change gdrkit_shmem_last_error().
 */
int gdrkit_shmem_n_pes(void);

/**
 * @brief Returns properties of the calling thread's PE.
 * @param[in,out] info The properties. Set `struct_size` before the call.
 * @return 0 on success.
 *   - `-EINVAL`: `info` is NULL, or `struct_size` is too small.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_get_info(struct gdrkit_shmem_info* info);

/**
 * @brief Sets the time limit of later collectives and waits of this PE.
 * @param[in] timeout_ms Limit in milliseconds; 0: no limit, unlike gdrkit_shmem_options::timeout_ms. Without a limit,
 *   a wait for a PE that has exited still fails with `-ECONNRESET`.
 * @return 0, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_set_timeout(uint32_t timeout_ms);

/**
 * @brief Describes how data reaches a PE, in human-readable text.
 *
 * The text has one line per transport, in the order in which the transports are tried. Each line describes what the
 * transport carries, or why it is not used.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[out] text Buffer for the text. May be NULL if `size_bytes` is 0.
 * @param[in] size_bytes Size of the buffer in bytes, including the terminating zero. A longer text is truncated and
 *   still terminated.
 * @return Length of the whole text without the terminating zero.
 *   - See @ref shmem_errors for errors.
 */
int gdrkit_shmem_describe(int pe, char* text, size_t size_bytes);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
