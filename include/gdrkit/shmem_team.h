/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Teams of PEs, and their barriers. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_TEAM_H
#define GDRKIT_SHMEM_TEAM_H

#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_team Teams and barriers
 * @ingroup shmem
 * @brief Subsets of the PEs, and synchronization of all PEs or of a team.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * // Synchronizes the PEs with even numbers.
 * int synchronize_even(void) {
 *   gdrkit_shmem_team_t even = GDRKIT_SHMEM_TEAM_INVALID;
 *   int result = gdrkit_shmem_team_split_strided(GDRKIT_SHMEM_TEAM_WORLD, 0, 2, (gdrkit_shmem_n_pes() + 1) / 2, &even);
 *   if (result != 0 || even == GDRKIT_SHMEM_TEAM_INVALID) return result;
 *   result = gdrkit_shmem_team_barrier(even);
 *   return result == 0 ? gdrkit_shmem_team_destroy(even) : result;
 * }
 * @endcode
 * @{
 */

/** @brief Handle of a team on the calling thread's PE. Other PEs may have a different handle for the same team. */
typedef int32_t gdrkit_shmem_team_t;

/** @brief No team: this PE is not a member. */
#define GDRKIT_SHMEM_TEAM_INVALID GDRKIT_SHMEM_CAST(gdrkit_shmem_team_t, -1)
/** @brief All PEs of the job. */
#define GDRKIT_SHMEM_TEAM_WORLD GDRKIT_SHMEM_CAST(gdrkit_shmem_team_t, 0)
/** @brief The PEs whose memory this GPU can access. */
#define GDRKIT_SHMEM_TEAM_SHARED GDRKIT_SHMEM_CAST(gdrkit_shmem_team_t, 1)
/** @brief The PEs of this node. */
#define GDRKIT_SHMEM_TEAM_NODE GDRKIT_SHMEM_CAST(gdrkit_shmem_team_t, 2)
/** @brief Maximum number of teams of a PE, including the three above. */
#define GDRKIT_SHMEM_TEAMS_MAX 32

#ifndef __CUDACC_RTC__ /* NVRTC rejects functions of the host */
/**
 * @brief Returns the number of the calling PE in a team.
 * @param[in] team The team.
 * @return Number from 0.
 *   - `-EINVAL`: `team` is not a team of this PE.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_team_my_pe(gdrkit_shmem_team_t team);

/**
 * @brief Returns the number of PEs of a team.
 * @param[in] team The team.
 * @return Number of PEs, at least 1.
 *   - `-EINVAL`: `team` is not a team of this PE.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_team_n_pes(gdrkit_shmem_team_t team);

/**
 * @brief Translates PE number `pe` of `team` to its number in `other`.
 * @param[in] team Team of the number `pe`.
 * @param[in] pe Number in `team`.
 * @param[in] other Team of the result.
 * @return Number in `other`.
 *   - `-ENOENT`: the PE is not in `other`.
 *   - `-EINVAL`: a team is not a team of this PE, or `pe` is out of range.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_team_translate_pe(gdrkit_shmem_team_t team, int pe, gdrkit_shmem_team_t other);

/**
 * @brief Makes a team of the PEs `start`, `start + stride`, ... of `parent`.
 * @param[in] parent Parent team. `start` and `stride` refer to its PE numbers. All its PEs must call the function with
 *   the same arguments.
 * @param[in] start Number of the first PE in `parent`.
 * @param[in] stride Step between PE numbers. May be negative; 0 only if `size` is 1.
 * @param[in] size Number of PEs of the new team, at least 1.
 * @param[out] team The new team; GDRKIT_SHMEM_TEAM_INVALID on PEs that are not in it.
 * @return 0 on success.
 *   - `-EINVAL`: a PE number is not in `parent`, `parent` is not a team of this PE, or `team` is NULL.
 *   - `-EPROTO`: PEs passed different arguments or called different collective functions.
 *   - `-ENOSPC`: a PE of `parent` is in GDRKIT_SHMEM_TEAMS_MAX teams.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective over `parent`.
 */
int gdrkit_shmem_team_split_strided(gdrkit_shmem_team_t parent, int start, int stride, int size,
                                    gdrkit_shmem_team_t* team);

/**
 * @brief Arranges a team in rows of `x_range` PEs, and makes a team of each row and of each column.
 *
 * If `x_range` does not divide the number of PEs, the last row is shorter, and the columns beyond its end have one PE
 * fewer. An `x_range` above the number of PEs is treated as that number.
 * @param[in] parent The team. All its PEs call the function with the same arguments.
 * @param[in] x_range Number of PEs in a row, at least 1.
 * @param[out] x_team Row of the calling PE.
 * @param[out] y_team Column of the calling PE.
 * @return 0, or an error of gdrkit_shmem_team_split_strided().
 * @note Collective over `parent`.
 */
int gdrkit_shmem_team_split_2d(gdrkit_shmem_team_t parent, int x_range, gdrkit_shmem_team_t* x_team,
                               gdrkit_shmem_team_t* y_team);

/**
 * @brief Returns an id with which PEs create a team by gdrkit_shmem_team_init().
 *
 * One PE calls it and gives the id to the PEs of the new team by any means. The caller need not be a member.
 * @param[out] id The id: nonzero, and valid for one team. A PE has room for 16 ids that are unused or whose teams are
 *   being created; a newer id replaces an unused one.
 * @return 0 on success.
 *   - `-EINVAL`: `id` is NULL.
 *   - `-EBUSY`: 16 teams are being created with ids of this PE.
 *   - See also @ref shmem_errors.
 * @note Not collective. Thread-safe.
 */
int gdrkit_shmem_team_get_unique_id(uint64_t* id);

/**
 * @brief Creates a team of any PEs, in any order.
 *
 * @code
 *   // PEs 3, 0 and 2 create a team in this order.
 *   uint64_t id = 0;  // received from the PE that called gdrkit_shmem_team_get_unique_id()
 *   const int number[] = {1, -1, 2, 0};
 *   const int own = number[gdrkit_shmem_my_pe()];
 *   gdrkit_shmem_team_t team = GDRKIT_SHMEM_TEAM_INVALID;
 *   int result = own < 0 ? 0 : gdrkit_shmem_team_init(id, 3, own, &team);
 * @endcode
 * @param[in] id An id of gdrkit_shmem_team_get_unique_id() that no other team has used.
 * @param[in] n_pes Number of PEs of the new team, at least 1. All its PEs must pass the same value.
 * @param[in] pe Number of the calling PE in the new team, from 0. Each PE must pass a different one.
 * @param[out] team The new team.
 * @return 0 on success.
 *   - `-EINVAL`: `id` is not valid, `n_pes` or `pe` is out of range, two PEs passed the same `pe`, or `team` is NULL.
 *   - `-EPROTO`: PEs passed different `n_pes`, or another PE failed.
 *   - `-ENOSPC`: a PE of the new team is in GDRKIT_SHMEM_TEAMS_MAX teams.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective over the new team. PEs must create teams that share PEs in one order that is the same for the whole
 *   job. After `-ETIMEDOUT`, other PEs may have created the team.
 * @note If the PEs are not evenly spaced, the collectives of GPU kernels copy all data through scratch memory.
 */
int gdrkit_shmem_team_init(uint64_t id, int n_pes, int pe, gdrkit_shmem_team_t* team);

/**
 * @brief Destroys a team. Its operations on streams must be complete. Its handles are invalid afterwards.
 * @param[in] team The team. For GDRKIT_SHMEM_TEAM_INVALID the call does nothing.
 * @return 0 on success.
 *   - `-EINVAL`: `team` is not a team of this PE, or is one of the three predefined teams.
 *   - `-EPROTO`, `-ETIMEDOUT`, `-ECONNRESET`: as for gdrkit_shmem_team_split_strided().
 * @note Collective over `team`.
 */
int gdrkit_shmem_team_destroy(gdrkit_shmem_team_t team);

/**
 * @brief Waits until all PEs of a team have called it. Does not complete outstanding puts.
 * @param[in] team The team.
 * @return 0 on success.
 *   - `-EINVAL`: `team` is not a team of this PE.
 *   - `-EPROTO`: PEs called different collective functions.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective over `team`.
 */
int gdrkit_shmem_team_sync(gdrkit_shmem_team_t team);

/**
 * @brief Performs gdrkit_shmem_quiet(), then gdrkit_shmem_team_sync().
 * @param[in] team The team.
 * @return 0, or an error of gdrkit_shmem_quiet() or gdrkit_shmem_team_sync().
 * @note Collective over `team`.
 */
int gdrkit_shmem_team_barrier(gdrkit_shmem_team_t team);

/**
 * @brief Waits until all PEs have called it. Does not complete outstanding puts.
 * @return 0 on success.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 * @note Collective over the job.
 */
int gdrkit_shmem_sync_all(void);

/**
 * @brief Performs gdrkit_shmem_quiet(), then gdrkit_shmem_sync_all().
 * @return 0, or an error of gdrkit_shmem_quiet() or gdrkit_shmem_sync_all().
 * @note Collective over the job.
 */
int gdrkit_shmem_barrier_all(void);

/**
 * @brief Makes a stream wait until streams of all PEs of a team have reached this call.
 *
 * Does not complete outstanding puts.
 * @param[in] team The team.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0 on success.
 *   - `-EINVAL`: `team` is not a team of this PE.
 *   - See also @ref shmem_errors. For errors of the wait, see @ref shmem_collectives.
 * @note Collective over `team`.
 */
int gdrkit_shmem_sync_on_stream(gdrkit_shmem_team_t team, void* stream);

/**
 * @brief Performs gdrkit_shmem_sync_on_stream(), and makes earlier writes of the stream visible to the team.
 * @param[in] team The team.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_sync_on_stream().
 * @note Collective over `team`.
 */
int gdrkit_shmem_barrier_on_stream(gdrkit_shmem_team_t team, void* stream);

/**
 * @brief Performs gdrkit_shmem_sync_on_stream() with all PEs.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_sync_on_stream().
 * @note Collective over the job.
 */
int gdrkit_shmem_sync_all_on_stream(void* stream);

/**
 * @brief Performs gdrkit_shmem_barrier_on_stream() with all PEs.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_sync_on_stream().
 * @note Collective over the job.
 */
int gdrkit_shmem_barrier_all_on_stream(void* stream);

#endif

/** @} */

#ifdef __cplusplus
}
#endif
#endif
