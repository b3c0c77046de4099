// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief gdrkit shmem for GPU kernels: teams and collectives.
#ifndef GDRKIT_SHMEM_COLLECTIVES_CUH
#define GDRKIT_SHMEM_COLLECTIVES_CUH

#include <gdrkit/detail/shmem_collectives_nodes.cuh>
#include <gdrkit/detail/shmem_collectives_route.cuh>

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
  const int of_job = detail::pe_of_member(from, static_cast<unsigned>(pe));
  if (to.members_address != 0) {
    int member = to.n_pes - 1;
    while (member >= 0 && detail::pe_of_member(to, static_cast<unsigned>(member)) != of_job) --member;
    return member;
  }
  const int distance = of_job - to.first_pe;
  const int member = to.pe_stride == 0 ? 0 : distance / to.pe_stride;
  return member >= 0 && member < to.n_pes && member * to.pe_stride == distance ? member : -1;
}

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
  if (detail::is_irregular(state, team, of_team)) {
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
