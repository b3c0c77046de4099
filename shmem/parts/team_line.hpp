// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TeamLine: data of one PE for the other PEs of a team on its machine, in shared host memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gdrkit/shmem.h"

namespace gdrkit::shmem_impl::parts {

inline constexpr int team_slots = GDRKIT_SHMEM_TEAMS_MAX;

/// Data of a PE for one meeting. Written before its arrival is counted, and read by PEs that have seen the count.
struct TeamWord {
  static constexpr std::size_t words_count = 8;
  static constexpr std::size_t most_bytes = 2048;

  std::uint64_t words[words_count];
  unsigned char data[most_bytes];
};

/// Meetings use the two words alternately. A PE that reaches the next meeting has read the data of the previous one, so
/// no PE overwrites data that another still reads.
struct alignas(128) TeamLine {
  std::atomic<std::uint64_t> arrivals;  ///< meetings of all teams that had this place
  alignas(128) TeamWord said[2];
};
static_assert(sizeof(TeamLine) % 128 == 0);

/// Of one PE, by the team's slot.
using TeamLines = TeamLine[team_slots];

}  // namespace gdrkit::shmem_impl::parts
