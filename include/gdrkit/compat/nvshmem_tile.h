/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's tile functions (nvshmemx::tile_put_block, ...) for GPU kernels. Included by nvshmemx.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_TILE_H
#define GDRKIT_COMPAT_NVSHMEM_TILE_H

#include "nvshmem_base.h"

#include "nvshmem_tensor.h"

#if defined(__CUDACC__)
#include "nvshmem_tile.cuh"

#if defined(CUTLASS_ENABLED)
namespace cutlass {
struct half_t;
struct bfloat16_t;
}  // namespace cutlass
namespace gdrkit::shmem::detail {
template <>
struct ElementOf<cutlass::half_t> {
  using Type = Half;
};
template <>
struct ElementOf<cutlass::bfloat16_t> {
  using Type = Bfloat16;
};
}  // namespace gdrkit::shmem::detail
#endif

/** @defgroup nvshmem_tile Tile functions
 *  @brief Transfers and collectives of the tiles that nvshmemx::Tensor describes. Each function has four variants:
 *  thread (no suffix), warp (_warp), four consecutive warps (_warpgroup) and block (_block). All threads of the group
 *  call it with the same arguments.
 *
 *  Functions with the suffix _warpgroup require a block whose size is a multiple of 128. They use the hardware barriers
 *  8 to 15 of the block: group i of the block uses barrier 8 + i. CUTLASS maps its user barriers 0 to 7 to these. So a
 *  GPU kernel must not use such a barrier while a group with the same number executes a tile function.
 *
 *  A tensor has one or two dimensions, and any strides. Copies are fastest if the elements of one dimension are
 *  contiguous in both tensors. Elements of copies have 1, 2, 4 or 8 bytes. Reductions accept integers, float, double,
 *  __half and __nv_bfloat16.
 *
 *  Two tensors have the same shape if their sizes are equal in each dimension. A missing second dimension has size 1.
 *  The tensors of a call must not overlap, unless the function permits that `dst` equals `src`: the same address and
 *  strides.
 *
 *  `start_coord` is the position of the tile's first element in a larger tensor, and `boundary` the size of the larger
 *  tensor. Elements with a coordinate of `boundary` or more are not accessed. If tuple_t has no data members
 *  (`struct empty {}`), all elements of the tile are accessed.
 *
 *  A function that returns NVSHMEMX_ERROR_INVALID_VALUE has neither communicated nor written. After
 *  NVSHMEMX_ERROR_INTERNAL, the team is unusable.
 *
 *  Collectives use one group of each PE of the team, and groups of the same kind. A team executes one collective at a
 *  time. Concurrent groups must use different teams.
 *
 *  Between nodes, the proxy transfers one row per command, or one element for reductions and for tiles without a
 *  contiguous dimension. If such a transfer fails or exceeds the limit, no tile function returns an error, and a
 *  reduction uses 0 for the value. The next nvshmem_barrier_all or nvshmem_quiet of the CPU reports it.
 *  @{ */

#define GDRKIT_NVSHMEM_FOR_EACH_GROUP(X) \
  X(, thread())                          \
  X(_warp, warp())                       \
  X(_warpgroup, detail::warpgroup())     \
  X(_block, block())
#define GDRKIT_NVSHMEM_TILE(algo_t, ...)                                                                      \
  template <typename src_tensor_t, typename dst_tensor_t, typename tuple_t, algo_t algo, int gdrkit_used = 0> \
  static __device__ inline __VA_ARGS__
#define GDRKIT_NVSHMEM_TILES ::gdrkit::shmem::detail::tile_of(dst), ::gdrkit::shmem::detail::tile_of(src)

namespace nvshmemx {

/** @brief Copies a tile to PE `pe` (tile_put) or from it (tile_get).
 *  The threads of the group divide the elements. As in NVSHMEM, the call does not synchronize the group. Synchronize it
 *  before a thread overwrites source elements that other threads copy, and, after tile_get, before a thread reads
 *  target elements that other threads copied. To complete tile_put, call nvshmem_quiet in every thread, or synchronize
 *  the group and call nvshmem_quiet in one thread.
 *  @tparam algo PEER_PUSH_NBI or REMOTE_PUSH_NBI for tile_put, PEER_PULL_NBI or REMOTE_PULL_NBI for tile_get.
 *  @param[in] src Source tensor: local for tile_put, symmetric for tile_get.
 *  @param[out] dst Target tensor of the same shape: symmetric for tile_put, local for tile_get.
 *  @param[in] start_coord Position of the tile.
 *  @param[in] boundary Size of the larger tensor.
 *  @param[in] pe PE number, 0 to n_pes - 1.
 *  @param[in] flag Must be 0.
 *  @return NVSHMEMX_SUCCESS. NVSHMEMX_ERROR_INVALID_VALUE if an address is null, the shapes differ or `flag` is not 0.
 */
#define GDRKIT_NVSHMEM_TILE_COPY(name, is_put, ALGO, suffix, group)                                                    \
  GDRKIT_NVSHMEM_TILE(                                                                                                 \
      tile_algo_t, int name##suffix(src_tensor_t src, dst_tensor_t dst, tuple_t start_coord, tuple_t boundary, int pe, \
                                    uint64_t flag) {                                                                   \
        static_assert(algo == PEER_##ALGO || algo == REMOTE_##ALGO, #name ": use PEER_" #ALGO " or REMOTE_" #ALGO);    \
        return ::gdrkit::shmem::detail::copy_tile<is_put>(GDRKIT_NVSHMEM_STATE, GDRKIT_NVSHMEM_TILES, start_coord,     \
                                                          boundary, pe, flag, ::gdrkit::shmem::group);                 \
      })
#define GDRKIT_NVSHMEM_TILE_COPIES(suffix, group)                   \
  GDRKIT_NVSHMEM_TILE_COPY(tile_put, true, PUSH_NBI, suffix, group) \
  GDRKIT_NVSHMEM_TILE_COPY(tile_get, false, PULL_NBI, suffix, group)
GDRKIT_NVSHMEM_FOR_EACH_GROUP(GDRKIT_NVSHMEM_TILE_COPIES)

#define GDRKIT_NVSHMEM_TILE_SPREAD(verb, suffix, group)                                                            \
  GDRKIT_NVSHMEM_TILE(                                                                                             \
      tile_coll_algo_t, int tile_##verb##suffix(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst,           \
                                                tuple_t start_coord, tuple_t boundary, uint64_t flag) {            \
        static_assert(algo == NVLS_ONE_SHOT_PUSH_NBI, "tile_" #verb ": use NVLS_ONE_SHOT_PUSH_NBI");               \
        return ::gdrkit::shmem::detail::verb##_tile(GDRKIT_NVSHMEM_STATE, team, GDRKIT_NVSHMEM_TILES, start_coord, \
                                                    boundary, flag, ::gdrkit::shmem::group);                       \
      })
/** @brief Copies the caller's tile to all PEs of the team. Only the root calls it. It does not wait for other PEs. The
 *  caller must ensure that every PE's target may be overwritten. All PEs call tile_collective_wait to complete it.
 *  @tparam algo NVLS_ONE_SHOT_PUSH_NBI.
 *  @param[in] team The team.
 *  @param[in] src Source tensor, local.
 *  @param[out] dst Target tensor of the same shape, symmetric.
 *  @param[in] start_coord Position of the tile.
 *  @param[in] boundary Size of the larger tensor.
 *  @param[in] flag Must be 0.
 *  @return NVSHMEMX_SUCCESS. NVSHMEMX_ERROR_INVALID_VALUE if an address is null, the shapes differ or `flag` is not 0.
 */
#define GDRKIT_NVSHMEM_TILE_BROADCAST(suffix, group) GDRKIT_NVSHMEM_TILE_SPREAD(broadcast, suffix, group)
GDRKIT_NVSHMEM_FOR_EACH_GROUP(GDRKIT_NVSHMEM_TILE_BROADCAST)
/** @brief Copies the caller's tile to part i of the target of all PEs, where i is the caller's number in the team.
 *  Parts are adjacent in the contiguous dimension first, then in the other one. It does not wait for other PEs. The
 *  caller must ensure that every PE's target may be overwritten. All PEs call tile_collective_wait to complete it.
 *  @tparam algo NVLS_ONE_SHOT_PUSH_NBI.
 *  @param[in] team The team.
 *  @param[in] src Source tensor, local.
 *  @param[out] dst Target tensor, symmetric. It consists of one part per PE, each of the source's shape.
 *  @param[in] start_coord Position of the source's tile.
 *  @param[in] boundary Size of the larger tensor.
 *  @param[in] flag Must be 0.
 *  @return NVSHMEMX_SUCCESS. NVSHMEMX_ERROR_INVALID_VALUE if an address is null, the target does not consist of one
 *  part per PE or `flag` is not 0. */
#define GDRKIT_NVSHMEM_TILE_ALLGATHER(suffix, group) GDRKIT_NVSHMEM_TILE_SPREAD(allgather, suffix, group)
GDRKIT_NVSHMEM_FOR_EACH_GROUP(GDRKIT_NVSHMEM_TILE_ALLGATHER)

/** @brief Reduces the sources of all PEs to the target of every PE, after all PEs have called it. `dst` may equal `src`
 *  if it does so on all PEs; otherwise they must not overlap. The results are bitwise identical on all PEs. All PEs
 *  call tile_collective_wait to complete the operation. In NVSHMEM 3.4.5, the functions are named
 *  tile_{sum,min,max}_allreduce.
 *  @tparam algo With NVLS_ONE_SHOT_PULL_NBI, each PE computes its own target. With NVLS_TWO_SHOT_PUSH_NBI, the root
 *  computes the targets of all PEs, and they may only be read after tile_collective_wait.
 *  @param[in] team The team.
 *  @param[in] src Source tensor, symmetric. After NVLS_ONE_SHOT_PULL_NBI, other PEs may still read it: call a barrier
 *  before writing to it.
 *  @param[out] dst Target tensor of the same shape. Symmetric, unless NVLS_ONE_SHOT_PULL_NBI writes it.
 *  @param[in] start_coord Position of the tile, equal on all PEs.
 *  @param[in] boundary Size of the larger tensor, equal on all PEs.
 *  @param[in] root Number of the root in the team, for NVLS_TWO_SHOT_PUSH_NBI. The overload without it accepts only
 *  NVLS_ONE_SHOT_PULL_NBI.
 *  @param[in] flag Must be 0.
 *  @return NVSHMEMX_SUCCESS. NVSHMEMX_ERROR_INVALID_VALUE if an address is null, the shapes differ, the root is out of
 *  range, `flag` is not 0, or the addresses are equal and the strides differ. NVSHMEMX_ERROR_INTERNAL if a wait
 *  exceeded the limit. */
#define GDRKIT_NVSHMEM_TILE_REDUCE(name, REDUCTION, suffix, group)                                                     \
  GDRKIT_NVSHMEM_TILE(                                                                                                 \
      tile_coll_algo_t, int name##suffix(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst, tuple_t start_coord, \
                                         tuple_t boundary, int root, uint64_t flag) {                                  \
        static_assert(algo == NVLS_ONE_SHOT_PULL_NBI || algo == NVLS_TWO_SHOT_PUSH_NBI,                                \
                      #name ": use NVLS_ONE_SHOT_PULL_NBI or NVLS_TWO_SHOT_PUSH_NBI");                                 \
        constexpr auto reducer = algo == NVLS_TWO_SHOT_PUSH_NBI ? ::gdrkit::shmem::detail::Reducer::root_for_all       \
                                                                : ::gdrkit::shmem::detail::Reducer::every_pe;          \
        return ::gdrkit::shmem::detail::reduce_tile<REDUCTION>(GDRKIT_NVSHMEM_STATE, team, GDRKIT_NVSHMEM_TILES,       \
                                                               start_coord, boundary, reducer, root, flag,             \
                                                               ::gdrkit::shmem::group);                                \
      })                                                                                                               \
  GDRKIT_NVSHMEM_TILE(                                                                                                 \
      tile_coll_algo_t, int name##suffix(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst, tuple_t start_coord, \
                                         tuple_t boundary, uint64_t flag) {                                            \
        return name##suffix<src_tensor_t, dst_tensor_t, tuple_t, algo>(team, src, dst, start_coord, boundary, -1,      \
                                                                       flag);                                          \
      })
/** @brief Reduces the sources of all PEs to the target of the root, after all PEs have called it. `dst` may equal `src`
 *  if it does so on all PEs; otherwise they must not overlap.
 *  @tparam algo NVLS_ONE_SHOT_PULL_NBI.
 *  @param[in] team The team.
 *  @param[in] src Source tensor, symmetric. Other PEs may still read it on return: call a barrier before writing to it.
 *  @param[out] dst Target tensor of the same shape. Only the root's target is written.
 *  @param[in] start_coord Position of the tile.
 *  @param[in] boundary Size of the larger tensor.
 *  @param[in] root Number of the root in the team.
 *  @param[in] flag Must be 0.
 *  @return NVSHMEMX_SUCCESS. NVSHMEMX_ERROR_INVALID_VALUE if an address is null, the shapes differ, the root is out of
 *  range, `flag` is not 0, or the addresses are equal and the strides differ. NVSHMEMX_ERROR_INTERNAL if a wait
 *  exceeded the limit. */
#define GDRKIT_NVSHMEM_TILE_ROOTED(name, REDUCTION, suffix, group)                                                 \
  GDRKIT_NVSHMEM_TILE(                                                                                             \
      tile_coll_algo_t,                                                                                            \
      int tile_##name##_rooted_reduce##suffix(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst,             \
                                              tuple_t start_coord, tuple_t boundary, int root, uint64_t flag) {    \
        static_assert(algo == NVLS_ONE_SHOT_PULL_NBI, "tile_" #name "_rooted_reduce: use NVLS_ONE_SHOT_PULL_NBI"); \
        return ::gdrkit::shmem::detail::reduce_tile<REDUCTION>(                                                    \
            GDRKIT_NVSHMEM_STATE, team, GDRKIT_NVSHMEM_TILES, start_coord, boundary,                               \
            ::gdrkit::shmem::detail::Reducer::root_for_itself, root, flag, ::gdrkit::shmem::group);                \
      })
#define GDRKIT_NVSHMEM_TILE_REDUCTION(name, REDUCTION, suffix, group)           \
  GDRKIT_NVSHMEM_TILE_REDUCE(tile_##name##_reduce, REDUCTION, suffix, group)    \
  GDRKIT_NVSHMEM_TILE_REDUCE(tile_##name##_allreduce, REDUCTION, suffix, group) \
  GDRKIT_NVSHMEM_TILE_ROOTED(name, REDUCTION, suffix, group)
#define GDRKIT_NVSHMEM_TILE_REDUCTIONS(suffix, group)                 \
  GDRKIT_NVSHMEM_TILE_REDUCTION(sum, GDRKIT_SHMEM_SUM, suffix, group) \
  GDRKIT_NVSHMEM_TILE_REDUCTION(min, GDRKIT_SHMEM_MIN, suffix, group) \
  GDRKIT_NVSHMEM_TILE_REDUCTION(max, GDRKIT_SHMEM_MAX, suffix, group)
GDRKIT_NVSHMEM_FOR_EACH_GROUP(GDRKIT_NVSHMEM_TILE_REDUCTIONS)

/** @brief Completes the tile collectives that the group started on a team. The group may then read its targets. With a
 *  PUSH algorithm, it waits for all PEs of the team. With a PULL algorithm, it waits for the group only.
 *  @tparam algo Algorithm of the collective.
 *  @param[in] team The team.
 *  @param[in] flag Must be 0.
 *  @return NVSHMEMX_SUCCESS. NVSHMEMX_ERROR_INVALID_VALUE if `flag` is not 0. NVSHMEMX_ERROR_INTERNAL if a wait
 *  exceeded the limit. */
#define GDRKIT_NVSHMEM_TILE_WAIT(suffix, group)                                                                      \
  template <tile_coll_algo_t algo, int gdrkit_used = 0>                                                              \
  static __device__ inline int tile_collective_wait##suffix(nvshmem_team_t team, uint64_t flag) {                    \
    static_assert(algo != NVLS_TWO_SHOT_PULL_NBI, "tile_collective_wait: no collective uses this algorithm");        \
    return ::gdrkit::shmem::detail::wait_for_tiles(GDRKIT_NVSHMEM_STATE, team, algo != NVLS_ONE_SHOT_PULL_NBI, flag, \
                                                   ::gdrkit::shmem::group);                                          \
  }
GDRKIT_NVSHMEM_FOR_EACH_GROUP(GDRKIT_NVSHMEM_TILE_WAIT)

}  // namespace nvshmemx

/** @} */

#undef GDRKIT_NVSHMEM_TILE_WAIT
#undef GDRKIT_NVSHMEM_TILE_REDUCTIONS
#undef GDRKIT_NVSHMEM_TILE_REDUCTION
#undef GDRKIT_NVSHMEM_TILE_ROOTED
#undef GDRKIT_NVSHMEM_TILE_REDUCE
#undef GDRKIT_NVSHMEM_TILE_ALLGATHER
#undef GDRKIT_NVSHMEM_TILE_BROADCAST
#undef GDRKIT_NVSHMEM_TILE_SPREAD
#undef GDRKIT_NVSHMEM_TILE_COPIES
#undef GDRKIT_NVSHMEM_TILE_COPY
#undef GDRKIT_NVSHMEM_TILES
#undef GDRKIT_NVSHMEM_TILE
#undef GDRKIT_NVSHMEM_FOR_EACH_GROUP
#endif

#endif
