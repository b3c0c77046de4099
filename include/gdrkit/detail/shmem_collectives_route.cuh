// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Route: the path of the data of a collective, and the collectives of a team by their routes. Included by
// shmem_collectives.cuh.
#ifndef GDRKIT_SHMEM_COLLECTIVES_ROUTE_CUH
#define GDRKIT_SHMEM_COLLECTIVES_ROUTE_CUH

#include <gdrkit/detail/shmem_collectives_large.cuh>
#include <gdrkit/detail/shmem_collectives_nodes.cuh>
#include <gdrkit/detail/shmem_collectives_small.cuh>

namespace gdrkit::shmem::detail {

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
  if (is_irregular(state, team, of_team)) return sync_over_nodes(state, team, is_barrier, group);
  const Turn<Group> turn(state, team, of_team, group);
  return turn.end(sync_turn(turn, is_barrier));
}
template <class Group>
GDRKIT_SHMEM_FUNCTION bool exchange_by(const State& state, Team team, void* target, const void* source,
                                       std::size_t size_bytes, bool is_alltoall, Group group) {
  const TeamState& of_team = team_state(state, team);
  auto* const to = static_cast<char*>(target);
  const auto* const from = static_cast<const char*>(source);
  if (is_irregular(state, team, of_team)) {
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
  if (is_irregular(state, team, of_team)) {
    return reduce_over_nodes(state, team, to, from, size_bytes, is_scattered ? size_bytes : 0, reduce, group);
  }
  const Turn<Group> turn(state, team, of_team, group);
  const Route route = route_of(size_bytes, of_team.group_limits.reduce);
  return turn.end(reduce_turn<false>(turn, to, from, size_bytes, is_scattered, reduce, route));
}

}  // namespace gdrkit::shmem::detail

#endif
