/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Collectives of a team, by the CPU and in the order of a stream. Included by gdrkit/shmem.h.
 *
 * gdrkit/shmem_collectives.cuh declares the collectives for GPU kernels.
 */
#ifndef GDRKIT_SHMEM_COLLECTIVES_H
#define GDRKIT_SHMEM_COLLECTIVES_H

#include <gdrkit/shmem_reduction.h>
#include <gdrkit/shmem_team.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_collectives Collectives
 * @ingroup shmem
 * @brief Broadcast, gather, exchange and reduction of data of a team.
 *
 * All PEs of the team call the same function with the same sizes, and with `target` and `source` at the same offsets of
 * the symmetric heap. Between the start and the completion of a PE's call, no PE may access the source and target of
 * that PE by other means. Calls may follow each other without a barrier. A call with size 0 does nothing.
 *
 * `target` and `source` may be equal in reduce and broadcast. In fcollect, `source` may be the caller's part of
 * `target`. Otherwise they must not overlap.
 *
 * A call is complete when it returns. A call with the suffix `_on_stream` adds work to the stream and returns; it is
 * complete when the stream has performed the work. A PE performs one collective of a team at a time, and all PEs
 * perform them in the same order. The caller orders collectives of several streams, for example by events.
 *
 * Calls that differ between PEs fail with `-EPROTO` on every PE. On streams, calls are compared only if the environment
 * variable `GDRKIT_SHMEM_CHECK_COLLECTIVES` is 1; each call then blocks until all PEs of the team have made it.
 * Otherwise calls that differ time out, because no GPU kernel waits for longer than the PE's limit. After a timeout the
 * team is unusable. Later calls with the team, and the next gdrkit_shmem_barrier_all(), gdrkit_shmem_quiet() or
 * gdrkit_shmem_stream_synchronize(), return `-ETIMEDOUT`. The error message names the PE that did not respond.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * // Sums the gradients of all PEs on `stream`. The sums are bitwise identical on all PEs.
 * int sum_gradients(float* sums, const float* gradients, size_t count, void* stream) {
 *   return gdrkit_shmem_float_sum_reduce_on_stream(GDRKIT_SHMEM_TEAM_WORLD, sums, gradients, count, stream);
 * }
 * @endcode
 * @{
 */

#ifndef __CUDACC_RTC__ /* NVRTC rejects functions of the host */
/**
 * @brief Copies the root's source to the target of every PE, including the root.
 * @param[in] team The team.
 * @param[out] target Symmetric memory of `size_bytes`.
 * @param[in] source Symmetric memory of `size_bytes`.
 * @param[in] size_bytes Size in bytes.
 * @param[in] root Number of the root in the team.
 * @return 0 on success.
 *   - `-EINVAL`: `team` is not a team of this PE, `root` is out of range, a range is not in one symmetric object, or
 *     the ranges overlap and @ref shmem_collectives does not allow it. This PE did not take part in the collective.
 *   - `-EPROTO`: PEs passed different arguments or called different collective functions.
 *   - `-ETIMEDOUT`: a PE did not respond within the limit. The team is unusable.
 *   - `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective over `team`.
 */
int gdrkit_shmem_broadcast(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes, int root);
/**
 * @brief Performs gdrkit_shmem_broadcast() in the order of a stream.
 * @param[in] team The team.
 * @param[out] target Symmetric memory of `size_bytes`.
 * @param[in] source Symmetric memory of `size_bytes`.
 * @param[in] size_bytes Size in bytes.
 * @param[in] root Number of the root in the team.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_broadcast().
 * @note Collective over `team`.
 */
int gdrkit_shmem_broadcast_on_stream(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes,
                                     int root, void* stream);

/**
 * @brief Concatenates the sources of all PEs, in the order of their numbers, in the target of every PE.
 * @param[in] team The team.
 * @param[out] target Symmetric memory of `size_bytes` per PE.
 * @param[in] source Symmetric memory of `size_bytes`.
 * @param[in] size_bytes Size of one source in bytes.
 * @return 0, or an error of gdrkit_shmem_broadcast().
 * @note Collective over `team`.
 */
int gdrkit_shmem_fcollect(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes);
/**
 * @brief Performs gdrkit_shmem_fcollect() in the order of a stream.
 * @param[in] team The team.
 * @param[out] target Symmetric memory of `size_bytes` per PE.
 * @param[in] source Symmetric memory of `size_bytes`.
 * @param[in] size_bytes Size of one source in bytes.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_broadcast().
 * @note Collective over `team`.
 */
int gdrkit_shmem_fcollect_on_stream(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes,
                                    void* stream);

/**
 * @brief Copies part i of PE j's source to part j of PE i's target.
 * @param[in] team The team.
 * @param[out] target Symmetric memory of `size_bytes` per PE.
 * @param[in] source Symmetric memory of `size_bytes` per PE.
 * @param[in] size_bytes Size of one part in bytes.
 * @return 0, or an error of gdrkit_shmem_broadcast().
 * @note Collective over `team`.
 */
int gdrkit_shmem_alltoall(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes);
/**
 * @brief Performs gdrkit_shmem_alltoall() in the order of a stream.
 * @param[in] team The team.
 * @param[out] target Symmetric memory of `size_bytes` per PE.
 * @param[in] source Symmetric memory of `size_bytes` per PE.
 * @param[in] size_bytes Size of one part in bytes.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_broadcast().
 * @note Collective over `team`.
 */
int gdrkit_shmem_alltoall_on_stream(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes,
                                    void* stream);

#ifdef GDRKIT_DOXYGEN
/**
 * @brief Calls gdrkit_shmem_broadcast() with elements of a type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of the source.
 * @param[in] root Number of the root in the team.
 * @return 0, or an error of gdrkit_shmem_broadcast(). `-EINVAL` also if the size exceeds SIZE_MAX.
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_broadcast(gdrkit_shmem_team_t team, TYPE* target, const TYPE* source,
                                                  size_t count, int root);
/**
 * @brief Calls gdrkit_shmem_broadcast_on_stream() with elements of a type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of the source.
 * @param[in] root Number of the root in the team.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_broadcast(). `-EINVAL` also if the size exceeds SIZE_MAX.
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_broadcast_on_stream(gdrkit_shmem_team_t team, TYPE* target, const TYPE* source,
                                                            size_t count, int root, void* stream);
/**
 * @brief Calls gdrkit_shmem_fcollect() with elements of a type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of one source.
 * @return 0, or an error of gdrkit_shmem_fcollect(). `-EINVAL` also if the size exceeds SIZE_MAX.
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_fcollect(gdrkit_shmem_team_t team, TYPE* target, const TYPE* source,
                                                 size_t count);
/**
 * @brief Calls gdrkit_shmem_fcollect_on_stream() with elements of a type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of one source.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_fcollect(). `-EINVAL` also if the size exceeds SIZE_MAX.
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_fcollect_on_stream(gdrkit_shmem_team_t team, TYPE* target, const TYPE* source,
                                                           size_t count, void* stream);
/**
 * @brief Calls gdrkit_shmem_alltoall() with elements of a type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of one part.
 * @return 0, or an error of gdrkit_shmem_alltoall(). `-EINVAL` also if the size exceeds SIZE_MAX.
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_alltoall(gdrkit_shmem_team_t team, TYPE* target, const TYPE* source,
                                                 size_t count);
/**
 * @brief Calls gdrkit_shmem_alltoall_on_stream() with elements of a type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of one part.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_alltoall(). `-EINVAL` also if the size exceeds SIZE_MAX.
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_alltoall_on_stream(gdrkit_shmem_team_t team, TYPE* target, const TYPE* source,
                                                           size_t count, void* stream);
#else
#define GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, operation, parameter, argument)                                \
  static inline int gdrkit_shmem_##name##_##operation(gdrkit_shmem_team_t team, type* target, const type* source, \
                                                      size_t count parameter) {                                   \
    return count > SIZE_MAX / sizeof(type)                                                                        \
               ? -EINVAL                                                                                          \
               : gdrkit_shmem_##operation(team, target, source, count * sizeof(type) argument);                   \
  }
#define GDRKIT_SHMEM_COMMA ,
#define GDRKIT_SHMEM_DEFINE_COLLECTIVES(name, type)                                                           \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, broadcast, GDRKIT_SHMEM_COMMA int root, GDRKIT_SHMEM_COMMA root) \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, fcollect, , )                                                    \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, alltoall, , )                                                    \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, broadcast_on_stream,                                             \
                                 GDRKIT_SHMEM_COMMA int root GDRKIT_SHMEM_COMMA void* stream,                 \
                                 GDRKIT_SHMEM_COMMA root GDRKIT_SHMEM_COMMA stream)                           \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, fcollect_on_stream, GDRKIT_SHMEM_COMMA void* stream,             \
                                 GDRKIT_SHMEM_COMMA stream)                                                   \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, alltoall_on_stream, GDRKIT_SHMEM_COMMA void* stream,             \
                                 GDRKIT_SHMEM_COMMA stream)
GDRKIT_SHMEM_FOR_EACH_TYPE(GDRKIT_SHMEM_DEFINE_COLLECTIVES)
#undef GDRKIT_SHMEM_DEFINE_COLLECTIVES
#undef GDRKIT_SHMEM_COMMA
#undef GDRKIT_SHMEM_DEFINE_COLLECTIVE
#endif

#endif

/** @} */

#ifdef __cplusplus
}
#endif
#endif
