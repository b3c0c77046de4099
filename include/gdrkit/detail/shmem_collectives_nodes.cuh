// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives of a team whose PEs are on several nodes or not evenly spaced. Stores reach the PEs of this node; the
// proxy executes commands for the others. All data passes through the scratch memory of the team. Included by
// shmem_collectives.cuh.
#ifndef GDRKIT_SHMEM_COLLECTIVES_NODES_CUH
#define GDRKIT_SHMEM_COLLECTIVES_NODES_CUH

#include <gdrkit/detail/shmem_collectives_small.cuh>

namespace gdrkit::shmem::detail {

/// Returns whether the collectives of this file serve the team. In a job on one node, it loads nothing.
GDRKIT_SHMEM_FUNCTION bool is_irregular(const State& state, Team team, const TeamState& of_team) {
  return (state.proxy_address != 0 && of_team.spans_nodes != 0) || __builtin_expect((team & uneven_team) != 0, 0);
}
/// Returns whether the proxy must carry data to `pe`.
GDRKIT_SHMEM_FUNCTION bool is_away(const State& state, int pe) {
  return state.proxy_address != 0 && is_proxied(state, pe);
}

template <class Word, class Group>
GDRKIT_SHMEM_FUNCTION void copy_rolled(char* target, const char* source, unsigned size_bytes, Group group) {
  GDRKIT_SHMEM_ROLLED
  for (unsigned i = group.rank(); i < size_bytes / sizeof(Word); i += group.size()) {
    reinterpret_cast<Word*>(target)[i] = reinterpret_cast<const Word*>(source)[i];
  }
}
/// Needs fewer registers than copy(): a GPU kernel needs them even if its team never spans nodes. Messages to other
/// nodes take longer than the copies.
template <class Group>
GDRKIT_SHMEM_FUNCTION void copy_rolled(char* target, const char* source, unsigned size_bytes, Group group) {
  const auto all = reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source) | size_bytes;
  if (all % 8 == 0) return copy_rolled<std::uint64_t>(target, source, size_bytes, group);
  if (all % 4 == 0) return copy_rolled<std::uint32_t>(target, source, size_bytes, group);
  copy_rolled<unsigned char>(target, source, size_bytes, group);
}

/// In a turn, each PE sends the turn's number to every other PE, with or without data, and waits for the numbers of
/// all. A number arrives after the data, and after earlier numbers from the same PE. A PE that sends number k has
/// completed turn k - 1. So after turn k - 1 all PEs have read the data of turn k - 2, and two halves of the scratch
/// memory that alternate need no reply.
template <class Group>
class NodesTurn {
 public:
  /// `senders`: number of PEs that send data to one PE: 1, or all but the receiver.
  GDRKIT_SHMEM_FUNCTION NodesTurn(const State& state, const Turn<Group>& turn, unsigned senders)
      : state_(state),
        turn_(turn),
        place_bytes_(static_cast<unsigned>(turn.team().scratch_bytes) / 2 / senders / 8 * 8),
        senders_(senders) {}

  /// Most bytes from one PE to another: at least 8, with 1024 PEs and the smallest scratch memory.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION unsigned most_bytes() const { return place_bytes_; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION const Turn<Group>& turn() const { return turn_; }

  /// Sends the `size_bytes` at `source` + `source_step` * member to each member, and receives data of all. Returns
  /// false if a wait failed. All threads of the group get the same result.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool exchange(const char* source, std::size_t source_step,
                                                    unsigned size_bytes) const {
    if (!turn_.is_usable()) return false;  // also orders earlier accesses of the group
    const Group group = turn_.group();
    std::uint64_t* const number = turn_.begun() + turn_.me();
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = group.rank(); member < turn_.n(); member += group.size()) {
      if (member == turn_.me() || !is_away(state_, pe_of(member))) continue;
      put_to_team_by_proxy(state_, place(turn_.me(), member), source + member * source_step, size_bytes, pe_of(member),
                           number, turn_.number());
    }
    if (size_bytes != 0) {
      GDRKIT_SHMEM_ROLLED
      for (unsigned distance = 1; distance < turn_.n(); ++distance) {
        const unsigned member = turn_.next(distance);
        if (is_away(state_, pe_of(member))) continue;
        copy_rolled(address_on_pe(state_, place(turn_.me(), member), pe_of(member)), source + member * source_step,
                    size_bytes, group);
      }
      group.sync();
    }
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = group.rank(); member < turn_.n(); member += group.size()) {
      if (member == turn_.me() || is_away(state_, pe_of(member))) continue;
      fence_release();
      post(address_on_pe(state_, number, pe_of(member)), turn_.number());
    }
    return turn_.wait_for_begun();
  }

  /// Data of `member` after exchange().
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION const char* received(unsigned member) const { return place(member, turn_.me()); }

 private:
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION int pe_of(unsigned member) const { return pe_of_member(turn_.team(), member); }
  /// A PE has no place for itself.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION char* place(unsigned sender, unsigned receiver) const {
    auto* const half =
        reinterpret_cast<char*>(turn_.team().scratch_address + turn_.number() % 2 * (turn_.team().scratch_bytes / 2));
    if (senders_ == 1) return half;
    return half + std::size_t{sender < receiver ? sender : sender - 1} * place_bytes_;
  }

  const State& state_;
  const Turn<Group>& turn_;
  const unsigned place_bytes_;
  const unsigned senders_;
};

/// Divides a collective into turns, as the scratch memory is limited: round(turn, begin, size), in bytes.
template <class Group, class Round>
GDRKIT_SHMEM_FUNCTION bool in_rounds(const State& state, Team team, unsigned senders, std::size_t size_bytes,
                                     Group group, Round round) {
  const TeamState& of_team = team_state(state, team);
  std::size_t at = 0;
  do {
    const Turn<Group> turn(state, team, of_team, group);
    const NodesTurn<Group> of_nodes(state, turn, senders);
    const std::size_t left = size_bytes - at;
    const unsigned bytes = left < of_nodes.most_bytes() ? static_cast<unsigned>(left) : of_nodes.most_bytes();
    if (!turn.end(round(of_nodes, at, bytes))) return false;
    at += bytes;
  } while (at < size_bytes);
  return true;
}
GDRKIT_SHMEM_FUNCTION unsigned other_pes(const State& state, Team team) {
  return static_cast<unsigned>(team_state(state, team).n_pes) - 1;
}

template <class Group>
GDRKIT_SHMEM_FUNCTION bool sync_over_nodes(const State& state, Team team, bool is_barrier, Group group) {
  if (is_barrier) {
    group.sync();
    if (group.rank() == 0 && state.proxy_address != 0) quiet_by_proxy(state);
  }
  const Turn<Group> turn(state, team, team_state(state, team), group);
  return turn.end(NodesTurn<Group>(state, turn, 1).exchange(nullptr, 0, 0));
}

// Out of line, with the state by value, so that a job on one node branches around them.

template <class Group>
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION bool broadcast_over_nodes(State state, Team team, char* target,
                                                                      const char* source, std::size_t size_bytes,
                                                                      unsigned root, Group group) {
  return in_rounds(state, team, 1, size_bytes, group,
                   [=](const NodesTurn<Group>& turn, std::size_t at, unsigned bytes) {
                     const bool is_root = turn.turn().me() == root;
                     if (!turn.exchange(source + at, 0, is_root ? bytes : 0)) return false;
                     const char* const from = is_root ? source + at : turn.received(root);
                     if (from != target + at) copy_rolled(target + at, from, bytes, group);
                     return true;
                   });
}

/// fcollect if `source_step` is 0; alltoall if it is `size_bytes`.
template <class Group>
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION bool exchange_over_nodes(State state, Team team, char* target,
                                                                     const char* source, std::size_t size_bytes,
                                                                     std::size_t source_step, Group group) {
  return in_rounds(state, team, other_pes(state, team), size_bytes, group,
                   [=](const NodesTurn<Group>& turn, std::size_t at, unsigned bytes) {
                     if (!turn.exchange(source + at, source_step, bytes)) return false;
                     GDRKIT_SHMEM_ROLLED
                     for (unsigned member = 0; member < turn.turn().n(); ++member) {
                       char* const to = target + member * size_bytes + at;
                       const bool is_own = member == turn.turn().me();
                       const char* const from = is_own ? source + member * source_step + at : turn.received(member);
                       if (from != to) copy_rolled(to, from, bytes, group);
                     }
                     return true;
                   });
}

/// Reduces in the order of the members, so that all PEs get the same bits.
template <class Group, class Reduce>
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION bool reduce_over_nodes(State state, Team team, char* target,
                                                                   const char* source, std::size_t size_bytes,
                                                                   std::size_t source_step, Reduce reduce,
                                                                   Group group) {
  return in_rounds(state, team, other_pes(state, team), size_bytes, group,
                   [=](const NodesTurn<Group>& turn, std::size_t at, unsigned bytes) {
                     if (!turn.exchange(source + at, source_step, bytes)) return false;
                     GDRKIT_SHMEM_ROLLED
                     for (unsigned index = group.rank(); index < (bytes + 7) / 8; index += group.size()) {
                       Values<1> result{};
                       GDRKIT_SHMEM_ROLLED
                       for (unsigned member = 0; member < turn.turn().n(); ++member) {
                         const bool is_own = member == turn.turn().me();
                         const char* const from = is_own ? source + member * source_step + at : turn.received(member);
                         const auto values = load_values<1>(from, index, 1, bytes);
                         if (member == 0) {
                           result = values;
                         } else {
                           combine_values<1>(reduce, &result, values);
                         }
                       }
                       store_values<1>(target + at, index, 1, bytes, result);
                     }
                     return true;
                   });
}

}  // namespace gdrkit::shmem::detail

#endif
