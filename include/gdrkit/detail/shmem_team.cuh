// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Teams for GPU kernels. Included by shmem_collectives.cuh.
#ifndef GDRKIT_SHMEM_TEAM_CUH
#define GDRKIT_SHMEM_TEAM_CUH

#include <gdrkit/shmem_device.cuh>

namespace gdrkit::shmem {

using Team = gdrkit_shmem_team_t;

/// Largest data, in bytes of the call, that a group of threads sends through scratch memory.
struct GroupLimits {
  std::uint32_t broadcast;
  std::uint32_t exchange;  ///< fcollect and alltoall
  std::uint32_t reduce;    ///< reduce and reducescatter
  std::uint32_t unused;
};

/// A member of a team whose members are not evenly spaced.
struct TeamMember {
  std::int64_t heap_bytes;  ///< from the caller's heap to the member's; 0 if the team spans nodes
  std::int32_t pe;          ///< number in the job
  std::int32_t unused;
};

/// Bits in the handle of a team whose heaps are not evenly spaced. They select another entry of the table: GPU kernels
/// use other words and scratch memory than the collectives on streams, whose data has another format.
enum : std::int32_t { uneven_team = 0xe0 };

/// The host's description of a team for GPU kernels of one PE. If members_address is 0, member i, from 0, is PE
/// first_pe + i * pe_stride of the job.
struct TeamState {
  Team team;
  std::int32_t n_pes;
  std::int32_t pe;  ///< this PE's number in the team
  std::int32_t first_pe;
  std::int32_t pe_stride;
  std::int32_t lanes;             ///< maximum number: there are words for them, and their blocks run at the same time
  std::uint32_t spans_nodes;      ///< 1: the GPU cannot access all PEs, so the next two are 0
  std::int64_t first_bytes;       ///< from the caller's heap to that of member 0
  std::int64_t stride_bytes;      ///< from a member's heap to that of the next member
  std::uint64_t words_address;    ///< words in the caller's heap that the other members write: see team_row_bytes
  std::uint64_t scratch_address;  ///< in the caller's heap
  std::uint64_t scratch_bytes;    ///< a multiple of 256
  std::uint64_t report_address;   ///< TeamReport
  GroupLimits group_limits;
  std::uint64_t members_address;  ///< 0, or TeamMember of each member
};

/// State that GPU kernels of this PE share.
struct TeamProgress {
  std::uint64_t turns;        ///< number of collectives that this PE has completed
  std::uint64_t is_broken;    ///< 1: a collective did not complete
  std::uint32_t ended_lanes;  ///< number of lanes that have completed the current turn
  std::uint32_t unused;
};

/// Entry of the table at State::teams_address, in the caller's heap. Each part has its own cache line: writes of the
/// progress do not evict the state from the first-level cache, and a collective loads both at the same time.
struct TeamEntry {
  alignas(128) TeamState state;
  alignas(128) TeamProgress progress;
};
static_assert(sizeof(TeamEntry) == 256);

/// Size of a row of words in bytes. Members write these words in each other's heap. There is one word per member in a
/// row, zeroed when the team is made: the row begun[member], then for each lane a row done[member].
GDRKIT_SHMEM_ANYWHERE std::uint64_t team_row_bytes(std::uint64_t n_pes) { return (n_pes * 8 + 127) / 128 * 128; }

/// Communication of GPU kernels and the CPU about a team, in host memory.
struct TeamReport {
  std::uint64_t fault;     ///< by the GPU: 0, or 1 + 2 * (the member whose wait timed out)
  std::uint64_t finished;  ///< by the GPU: the last ticket (Turn)
  std::uint64_t stop;      ///< by the CPU: nonzero ends all waits
  std::uint64_t unused[13];
};

/// `team` must be a valid handle. Its low byte, as a signed integer, is the number of the entry.
GDRKIT_SHMEM_FUNCTION TeamEntry& team_entry(const State& state, Team team) {
  return reinterpret_cast<TeamEntry*>(state.teams_address)[static_cast<std::int8_t>(team)];
}
GDRKIT_SHMEM_FUNCTION const TeamState& team_state(const State& state, Team team) {
  return team_entry(state, team).state;
}

namespace detail {

/// Returns the number in the job of a member.
GDRKIT_SHMEM_FUNCTION int pe_of_member(const TeamState& team, unsigned member) {
  if (team.members_address != 0) return reinterpret_cast<const TeamMember*>(team.members_address)[member].pe;
  return team.first_pe + static_cast<int>(member) * team.pe_stride;
}

/// Members of a team, and the addresses of their memory. Copied to registers, because each use of the team in memory
/// would load it again. They must be evenly spaced.
struct EvenMembers {
  std::int64_t first_bytes;
  std::int64_t stride_bytes;
  unsigned n;
  unsigned me;

  GDRKIT_SHMEM_FUNCTION explicit EvenMembers(const TeamState& team)
      : first_bytes(team.first_bytes),
        stride_bytes(team.stride_bytes),
        n(static_cast<unsigned>(team.n_pes)),
        me(static_cast<unsigned>(team.pe)) {}

  /// Returns the member `distance` positions (at most n) after this one, cyclically.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION unsigned next(unsigned distance) const {
    const unsigned member = me + distance;
    return member < n ? member : member - n;
  }
  /// Returns the address of member `member`'s copy of the object at `own`.
  template <class T>
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION T* at(T* own, unsigned member) const {
    return moved(own, first_bytes + static_cast<std::int64_t>(member) * stride_bytes);
  }

 protected:
  template <class T>
  [[nodiscard]] static GDRKIT_SHMEM_FUNCTION T* moved(T* own, std::int64_t distance) {
    return in_global_memory(
        reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(own) + static_cast<std::uintptr_t>(distance)));
  }
};

/// Members of any team. Each address costs a branch, which is noticeable in small collectives of GPU kernels.
struct AnyMembers : EvenMembers {
  const TeamMember* uneven;

  GDRKIT_SHMEM_FUNCTION explicit AnyMembers(const TeamState& team)
      : EvenMembers(team), uneven(reinterpret_cast<const TeamMember*>(team.members_address)) {}

  template <class T>
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION T* at(T* own, unsigned member) const {
    return uneven == nullptr ? EvenMembers::at(own, member) : moved(own, uneven[member].heap_bytes);
  }
};

/// A group of threads that accepts any team.
template <class Group>
struct OfAnyTeam : Group {
  GDRKIT_SHMEM_FUNCTION explicit OfAnyTeam(Group group) : Group(group) {}
};

template <class Group>
struct MembersFor {
  using Type = EvenMembers;
};
template <class Group>
struct MembersFor<OfAnyTeam<Group>> {
  using Type = AnyMembers;
};
template <class Group>
using Members = typename MembersFor<Group>::Type;

}  // namespace detail
}  // namespace gdrkit::shmem

#endif
