// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Teams and collectives for GPU kernels of PEs that reach each other by loads and stores. What
// gdrkit/shmem_collectives.h says of targets, sources and order holds here too, for the group's threads in place of the
// stream.
//
//   __global__ void step(gdrkit_shmem_device_state pe, gdrkit_shmem_team_t team, float* sums, const float* mine) {
//     gdrkit::shmem::reduce<GDRKIT_SHMEM_SUM>(pe, team, sums, mine, 64, gdrkit::shmem::block());
//   }
//
// One group of each PE of the team takes part: of the same kind, with the same arguments, in GPU kernels that run at
// the same time. Each function returns false, to all threads, when a wait exceeded the state's limit; the team is
// broken then.
#ifndef GDRKIT_SHMEM_COLLECTIVES_CUH
#define GDRKIT_SHMEM_COLLECTIVES_CUH

#include <gdrkit/detail/shmem_collectives_large.cuh>
#include <gdrkit/detail/shmem_collectives_small.cuh>

namespace gdrkit::shmem {
namespace detail {

/// How a collective's data goes.
enum class Route : std::uint32_t {
  small,  ///< through scratch memory
  large,  ///< from source to target
  parts,  ///< of a broadcast: over the other PEs
};

// Each does its part of one turn, and answers all threads whether it came to its end.

template <class Group>
GDRKIT_SHMEM_FUNCTION bool sync_turn(const Turn<Group>& turn, bool is_barrier) {
  turn.begin(is_barrier ? Begin::after_writes : Begin::after_reads);
  return turn.wait_for_begun();
}

/// `may_go_in_parts`: that route is compiled too.
template <bool may_go_in_parts, class Group>
GDRKIT_SHMEM_FUNCTION bool broadcast_turn(const Turn<Group>& turn, char* target, const char* source,
                                          std::size_t size_bytes, unsigned root, Route route, std::size_t piece_bytes) {
  const bool is_root = turn.me() == root;
  if (route == Route::small) {
    turn.begin(Begin::now);
    if (!(is_root ? turn.wait_for_scratch() : turn.is_usable())) return false;
    return turn.group().all(SmallTurn<Group>(turn, size_bytes, 1).broadcast(target, source, root));
  }
  const bool goes_in_parts = may_go_in_parts && route == Route::parts;
  turn.begin(Begin::after_reads);
  if (!(is_root || goes_in_parts ? turn.wait_for_begun() : turn.is_usable())) return false;
  const LargeTurn<Group> large(turn);
  if constexpr (may_go_in_parts) {
    if (goes_in_parts) return large.broadcast_in_parts(target, source, size_bytes, root, piece_bytes);
  }
  return large.broadcast(target, source, size_bytes, root);
}

/// `is_alltoall`: the source has a part for each PE.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool exchange_turn(const Turn<Group>& turn, char* target, const char* source,
                                         std::size_t size_bytes, bool is_alltoall, Route route) {
  if (route == Route::small) {
    turn.begin(Begin::now);
    if (!turn.wait_for_scratch()) return false;
    SmallTurn<Group> small(turn, size_bytes, turn.n() - 1);
    return turn.group().all(small.exchange(target, source, is_alltoall ? size_bytes : 0));
  }
  turn.begin(Begin::after_reads);
  if (!turn.wait_for_begun()) return false;
  const LargeTurn<Group> large(turn);
  return is_alltoall ? large.alltoall(target, source, size_bytes) : large.fcollect(target, source, size_bytes);
}

/// `is_scattered`: the source has a part for each PE, of `size_bytes`.
template <class Group, class Reduce>
GDRKIT_SHMEM_FUNCTION bool reduce_turn(const Turn<Group>& turn, char* target, const char* source,
                                       std::size_t size_bytes, bool is_scattered, Reduce reduce, Route route) {
  if (route == Route::small) {
    turn.begin(Begin::now);
    if (!turn.wait_for_scratch()) return false;
    SmallTurn<Group> small(turn, size_bytes, turn.n() - 1);
    return turn.group().all(small.reduce(target, source, is_scattered ? size_bytes : 0, reduce));
  }
  turn.begin(Begin::after_writes);
  if (!turn.wait_for_begun()) return false;
  const LargeTurn<Group> large(turn);
  return large.reduce(target, source, size_bytes, is_scattered, reduce);
}

GDRKIT_SHMEM_FUNCTION Route route_of(const TeamState& team, std::size_t size_bytes, unsigned senders) {
  return size_bytes <= small_bytes(team.scratch_bytes, senders) ? Route::small : Route::large;
}

template <class Group, class Reduce>
GDRKIT_SHMEM_FUNCTION bool reduce_by(const State& state, Team team, void* target, const void* source,
                                     std::size_t size_bytes, bool is_scattered, Reduce reduce, Group group) {
  const TeamState& of_team = team_state(state, team);
  const Turn<Group> turn(state, team, of_team, group);
  const Route route = route_of(of_team, size_bytes, turn.n() - 1);
  return turn.end(reduce_turn(turn, static_cast<char*>(target), static_cast<const char*>(source), size_bytes,
                              is_scattered, reduce, route));
}

}  // namespace detail

/// All PEs of the team have come here.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool team_sync(const State& state, Team team, Group group) {
  const detail::Turn<Group> turn(state, team, team_state(state, team), group);
  return turn.end(detail::sync_turn(turn, false));
}
/// The same, and what the group's threads did before is visible to all of them.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool team_barrier(const State& state, Team team, Group group) {
  const detail::Turn<Group> turn(state, team, team_state(state, team), group);
  return turn.end(detail::sync_turn(turn, true));
}

/// The root's source to everyone's target.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool broadcast(const State& state, Team team, void* target, const void* source,
                                     std::size_t size_bytes, int root, Group group) {
  const TeamState& of_team = team_state(state, team);
  const detail::Turn<Group> turn(state, team, of_team, group);
  return turn.end(detail::broadcast_turn<false>(turn, static_cast<char*>(target), static_cast<const char*>(source),
                                                size_bytes, static_cast<unsigned>(root),
                                                detail::route_of(of_team, size_bytes, 1), 0));
}
/// Everyone's source of `size_bytes`, by PE, to everyone's target.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool fcollect(const State& state, Team team, void* target, const void* source,
                                    std::size_t size_bytes, Group group) {
  const TeamState& of_team = team_state(state, team);
  const detail::Turn<Group> turn(state, team, of_team, group);
  return turn.end(detail::exchange_turn(turn, static_cast<char*>(target), static_cast<const char*>(source), size_bytes,
                                        false, detail::route_of(of_team, size_bytes, turn.n() - 1)));
}
/// Part i of PE j's source, of `size_bytes`, becomes part j of PE i's target.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool alltoall(const State& state, Team team, void* target, const void* source,
                                    std::size_t size_bytes, Group group) {
  const TeamState& of_team = team_state(state, team);
  const detail::Turn<Group> turn(state, team, of_team, group);
  return turn.end(detail::exchange_turn(turn, static_cast<char*>(target), static_cast<const char*>(source), size_bytes,
                                        true, detail::route_of(of_team, size_bytes, turn.n() - 1)));
}
/// T: an integer, float, double, Half or Bfloat16.
template <gdrkit_shmem_reduction reduction, class T, class Group>
GDRKIT_SHMEM_FUNCTION bool reduce(const State& state, Team team, T* target, const T* source, std::size_t count,
                                  Group group) {
  return detail::reduce_by(state, team, target, source, count * sizeof(T), false, detail::Reduction<reduction, T>{},
                           group);
}
/// `count`: of the target; the source has as many for each PE.
template <gdrkit_shmem_reduction reduction, class T, class Group>
GDRKIT_SHMEM_FUNCTION bool reducescatter(const State& state, Team team, T* target, const T* source, std::size_t count,
                                         Group group) {
  return detail::reduce_by(state, team, target, source, count * sizeof(T), true, detail::Reduction<reduction, T>{},
                           group);
}

}  // namespace gdrkit::shmem

#endif
