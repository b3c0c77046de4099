// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief gdrkit shmem for GPU kernels: teams and collectives.
#ifndef GDRKIT_SHMEM_COLLECTIVES_CUH
#define GDRKIT_SHMEM_COLLECTIVES_CUH

#include <gdrkit/detail/shmem_collectives_large.cuh>
#include <gdrkit/detail/shmem_collectives_nodes.cuh>
#include <gdrkit/detail/shmem_collectives_small.cuh>

namespace gdrkit::shmem {

/// @defgroup shmem_device_collectives Teams and collectives
/// @ingroup shmem_device
/// @brief Collectives of the PEs of a team, on one node or several.
///
/// The rules of gdrkit/shmem_collectives.h for targets, sources and order apply to the threads of the group as they do
/// to a stream. One group of each PE of the team takes part. The groups must be of the same kind and pass the same
/// arguments, and their GPU kernels must run at the same time. A PE may call collectives of different teams
/// at the same time. In a team over several nodes, each collective waits for all PEs of the team.
///
/// @code{.cu}
/// #include <gdrkit/shmem_collectives.cuh>
///
/// // Sums 64 floats of every PE.
/// __global__ void step(gdrkit_shmem_device_state pe, gdrkit_shmem_team_t team, float* sums, const float* mine) {
///   gdrkit::shmem::reduce<GDRKIT_SHMEM_SUM>(pe, team, sums, mine, 64, gdrkit::shmem::block());
/// }
/// @endcode
/// @{

/// @brief Returns the number of the calling PE in a team.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @return Number from 0.
GDRKIT_SHMEM_FUNCTION int team_my_pe(const State& state, Team team) { return team_state(state, team).pe; }
/// @brief Returns the number of PEs of a team.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @return Number of PEs.
GDRKIT_SHMEM_FUNCTION int team_n_pes(const State& state, Team team) { return team_state(state, team).n_pes; }
/// @brief Returns the number in `other` of the PE with the number `pe` in `team`.
/// @param[in] state State of the PE.
/// @param[in] team Team of the number `pe`.
/// @param[in] pe Number in `team`.
/// @param[in] other Team of the result.
/// @return Number in `other`, or -1 if the PE is not in `other`.
GDRKIT_SHMEM_FUNCTION int team_translate_pe(const State& state, Team team, int pe, Team other) {
  const TeamState& from = team_state(state, team);
  const TeamState& to = team_state(state, other);
  if (pe < 0 || pe >= from.n_pes) return -1;
  const int distance = from.first_pe + pe * from.pe_stride - to.first_pe;
  const int member = to.pe_stride == 0 ? 0 : distance / to.pe_stride;
  return member >= 0 && member < to.n_pes && member * to.pe_stride == distance ? member : -1;
}

namespace detail {

/// Path of the data of a collective.
enum class Route : std::uint32_t {
  small,   ///< through scratch memory
  large,   ///< from source to target
  parts,   ///< for a broadcast: in parts, through the other PEs
  shares,  ///< for a broadcast or reduce: through scratch memory, in two steps, of which the other PEs perform one
};

// Each function performs this PE's part of one turn, and returns to all threads whether the turn completed.

template <class Group>
GDRKIT_SHMEM_FUNCTION bool sync_turn(const Turn<Group>& turn, bool is_barrier) {
  turn.begin(is_barrier ? Begin::after_writes : Begin::after_reads);
  return turn.wait_for_begun();
}

/// `is_of_grid`: whether Route::parts and Route::shares are compiled.
template <bool is_of_grid, class Group>
GDRKIT_SHMEM_FUNCTION bool broadcast_turn(const Turn<Group>& turn, char* target, const char* source,
                                          std::size_t size_bytes, unsigned root, Route route, std::size_t piece_bytes) {
  const bool is_root = turn.me() == root;
  if (route == Route::small) {
    turn.begin(Begin::now);
    if (!(is_root ? turn.wait_for_scratch() : turn.is_usable())) return false;
    return turn.group().all(SmallTurn<Group>(turn, size_bytes).broadcast(target, source, root));
  }
  if constexpr (is_of_grid) {
    if (route == Route::shares) {
      turn.begin(Begin::now);
      if (!turn.wait_for_scratch()) return false;
      return turn.group().all(
          SmallTurn<Group>::in_shares(turn, size_bytes, turn.n() - 1).broadcast_in_shares(target, source, root));
    }
  }
  const bool goes_in_parts = is_of_grid && route == Route::parts;
  turn.begin(Begin::after_reads);
  if (!(is_root || goes_in_parts ? turn.wait_for_begun() : turn.is_usable())) return false;
  const LargeTurn<Group> large(turn);
  if constexpr (is_of_grid) {
    if (goes_in_parts) return large.broadcast_in_parts(target, source, size_bytes, root, piece_bytes);
  }
  return large.broadcast(target, source, size_bytes, root);
}

/// `is_alltoall`: whether the source has one part per PE.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool exchange_turn(const Turn<Group>& turn, char* target, const char* source,
                                         std::size_t size_bytes, bool is_alltoall, Route route) {
  if (route == Route::small) {
    turn.begin(Begin::now);
    if (!turn.wait_for_scratch()) return false;
    SmallTurn<Group> small(turn, size_bytes);
    return turn.group().all(small.exchange(target, source, is_alltoall ? size_bytes : 0));
  }
  turn.begin(Begin::after_reads);
  if (!turn.wait_for_begun()) return false;
  const LargeTurn<Group> large(turn);
  return is_alltoall ? large.alltoall(target, source, size_bytes) : large.fcollect(target, source, size_bytes);
}

/// `is_of_grid`: whether Route::shares is compiled. `is_scattered`: whether the source has one part of `size_bytes` per
/// PE.
template <bool is_of_grid, class Group, class Reduce>
GDRKIT_SHMEM_FUNCTION bool reduce_turn(const Turn<Group>& turn, char* target, const char* source,
                                       std::size_t size_bytes, bool is_scattered, Reduce reduce, Route route) {
  if (route == Route::small) {
    turn.begin(Begin::now);
    if (!turn.wait_for_scratch()) return false;
    SmallTurn<Group> small(turn, size_bytes);
    return turn.group().all(small.reduce(target, source, is_scattered ? size_bytes : 0, reduce));
  }
  if constexpr (is_of_grid) {
    if (route == Route::shares) {
      turn.begin(Begin::now);
      if (!turn.wait_for_scratch()) return false;
      return turn.group().all(
          SmallTurn<Group>::in_shares(turn, size_bytes, turn.n()).reduce_in_shares(target, source, reduce));
    }
  }
  turn.begin(Begin::after_writes);
  if (!turn.wait_for_begun()) return false;
  const LargeTurn<Group> large(turn);
  return large.reduce(target, source, size_bytes, is_scattered, reduce);
}

GDRKIT_SHMEM_FUNCTION Route route_of(std::size_t size_bytes, std::uint32_t small_limit) {
  return size_bytes <= small_limit ? Route::small : Route::large;
}

template <class Group>
GDRKIT_SHMEM_FUNCTION bool sync_by(const State& state, Team team, bool is_barrier, Group group) {
  const TeamState& of_team = team_state(state, team);
  if (spans_nodes(state, of_team)) return sync_over_nodes(state, team, is_barrier, group);
  const Turn<Group> turn(state, team, of_team, group);
  return turn.end(sync_turn(turn, is_barrier));
}
template <class Group>
GDRKIT_SHMEM_FUNCTION bool exchange_by(const State& state, Team team, void* target, const void* source,
                                       std::size_t size_bytes, bool is_alltoall, Group group) {
  const TeamState& of_team = team_state(state, team);
  auto* const to = static_cast<char*>(target);
  const auto* const from = static_cast<const char*>(source);
  if (spans_nodes(state, of_team)) {
    return exchange_over_nodes(state, team, to, from, size_bytes, is_alltoall ? size_bytes : 0, group);
  }
  const Turn<Group> turn(state, team, of_team, group);
  return turn.end(
      exchange_turn(turn, to, from, size_bytes, is_alltoall, route_of(size_bytes, of_team.group_limits.exchange)));
}
template <class Group, class Reduce>
GDRKIT_SHMEM_FUNCTION bool reduce_by(const State& state, Team team, void* target, const void* source,
                                     std::size_t size_bytes, bool is_scattered, Reduce reduce, Group group) {
  const TeamState& of_team = team_state(state, team);
  auto* const to = static_cast<char*>(target);
  const auto* const from = static_cast<const char*>(source);
  if (spans_nodes(state, of_team)) {
    return reduce_over_nodes(state, team, to, from, size_bytes, is_scattered ? size_bytes : 0, reduce, group);
  }
  const Turn<Group> turn(state, team, of_team, group);
  const Route route = route_of(size_bytes, of_team.group_limits.reduce);
  return turn.end(reduce_turn<false>(turn, to, from, size_bytes, is_scattered, reduce, route));
}

}  // namespace detail

/// @brief Waits for all PEs of a team. Does not complete outstanding puts.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @param[in] group Threads that take part.
/// @return In all threads of the group: true on success, false if a wait exceeded the state's limit. The team is
///   unusable after false.
/// @note Collective over `team`.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool team_sync(const State& state, Team team, Group group) {
  return detail::sync_by(state, team, false, group);
}
/// @brief Waits for all PEs of a team, and makes earlier writes of the group visible to all of them.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @param[in] group Threads that take part.
/// @return In all threads of the group: true on success, false if a wait exceeded the state's limit. The team is
///   unusable after false.
/// @note Collective over `team`.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool team_barrier(const State& state, Team team, Group group) {
  return detail::sync_by(state, team, true, group);
}

/// @brief Copies the root's source to the target of every PE, including the root.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @param[out] target Symmetric memory of `size_bytes`.
/// @param[in] source Symmetric memory of `size_bytes`.
/// @param[in] size_bytes Size in bytes.
/// @param[in] root Number of the root in the team.
/// @param[in] group Threads that take part.
/// @return In all threads of the group: true on success, false if a wait exceeded the state's limit. The team is
///   unusable after false.
/// @note Collective over `team`.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool broadcast(const State& state, Team team, void* target, const void* source,
                                     std::size_t size_bytes, int root, Group group) {
  const TeamState& of_team = team_state(state, team);
  auto* const to = static_cast<char*>(target);
  const auto* const from = static_cast<const char*>(source);
  const auto sender = static_cast<unsigned>(root);
  if (detail::spans_nodes(state, of_team)) {
    return detail::broadcast_over_nodes(state, team, to, from, size_bytes, sender, group);
  }
  const detail::Turn<Group> turn(state, team, of_team, group);
  return turn.end(detail::broadcast_turn<false>(turn, to, from, size_bytes, sender,
                                                detail::route_of(size_bytes, of_team.group_limits.broadcast), 0));
}
/// @brief Concatenates the sources of all PEs, in the order of their numbers, in the target of every PE.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @param[out] target Symmetric memory of `size_bytes` per PE.
/// @param[in] source Symmetric memory of `size_bytes`.
/// @param[in] size_bytes Size of one source in bytes.
/// @param[in] group Threads that take part.
/// @return In all threads of the group: true on success, false if a wait exceeded the state's limit. The team is
///   unusable after false.
/// @note Collective over `team`.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool fcollect(const State& state, Team team, void* target, const void* source,
                                    std::size_t size_bytes, Group group) {
  return detail::exchange_by(state, team, target, source, size_bytes, false, group);
}
/// @brief Copies part i of PE j's source to part j of PE i's target.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @param[out] target Symmetric memory of `size_bytes` per PE.
/// @param[in] source Symmetric memory of `size_bytes` per PE.
/// @param[in] size_bytes Size of one part in bytes.
/// @param[in] group Threads that take part.
/// @return In all threads of the group: true on success, false if a wait exceeded the state's limit. The team is
///   unusable after false.
/// @note Collective over `team`.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool alltoall(const State& state, Team team, void* target, const void* source,
                                    std::size_t size_bytes, Group group) {
  return detail::exchange_by(state, team, target, source, size_bytes, true, group);
}
/// @brief Reduces element i of all sources to element i of every target. The results are bitwise identical on all PEs.
/// @tparam reduction The operation.
/// @tparam T An integer, float, double, Half or Bfloat16. AND, OR and XOR require an integer.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @param[out] target Symmetric memory of `count` elements.
/// @param[in] source Symmetric memory of `count` elements.
/// @param[in] count Number of elements.
/// @param[in] group Threads that take part.
/// @return In all threads of the group: true on success, false if a wait exceeded the state's limit. The team is
///   unusable after false.
/// @note Collective over `team`.
template <gdrkit_shmem_reduction reduction, class T, class Group>
GDRKIT_SHMEM_FUNCTION bool reduce(const State& state, Team team, T* target, const T* source, std::size_t count,
                                  Group group) {
  return detail::reduce_by(state, team, target, source, count * sizeof(T), false, detail::Reduction<reduction, T>{},
                           group);
}
/// @brief Reduces the sources of all PEs, and stores part i of the result in PE i's target.
/// @tparam reduction The operation.
/// @tparam T An integer, float, double, Half or Bfloat16. AND, OR and XOR require an integer.
/// @param[in] state State of the PE.
/// @param[in] team The team.
/// @param[out] target Symmetric memory of `count` elements.
/// @param[in] source Symmetric memory of `count` elements per PE.
/// @param[in] count Number of elements of one part.
/// @param[in] group Threads that take part.
/// @return In all threads of the group: true on success, false if a wait exceeded the state's limit. The team is
///   unusable after false.
/// @note Collective over `team`.
template <gdrkit_shmem_reduction reduction, class T, class Group>
GDRKIT_SHMEM_FUNCTION bool reducescatter(const State& state, Team team, T* target, const T* source, std::size_t count,
                                         Group group) {
  return detail::reduce_by(state, team, target, source, count * sizeof(T), true, detail::Reduction<reduction, T>{},
                           group);
}

/// @}

}  // namespace gdrkit::shmem

#endif
