// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeLine and TeamLine: the state of a PE that the other PEs of its node read in shared host memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gdrkit/shmem.h"

namespace gdrkit::shmem_impl::parts {

/// AgreedCall::operation of functions that all PEs of the job call.
enum AgreedOperation : std::uint64_t { allocating = 1, freeing, registering, sharing, unregistering };

/// What a PE passed to a collective function.
struct AgreedCall {
  std::int32_t pe = -1;  ///< -1: none
  std::uint64_t operation = 0;
  std::uint64_t arguments[2] = {};

  [[nodiscard]] bool is_like(const AgreedCall& other) const noexcept {
    return operation == other.operation && arguments[0] == other.arguments[0] && arguments[1] == other.arguments[1];
  }
};
/// Of any number of PEs: the first one's call, and that of the first PE whose call differs from it.
struct AgreedCalls {
  AgreedCall first;
  AgreedCall different;
};

/// One PE writes it; the other PEs of its node read it. The shared area is an array of PeLine, indexed by the PE's
/// position on the node. A PeLine has two cache lines, because CPUs fetch them in pairs.
struct alignas(128) PeLine {
  std::atomic<std::uint64_t> arrivals;  ///< number of synchronizations that this PE has reached
  // What it was called with, valid between two synchronisations.
  std::atomic<std::uint64_t> operation;
  std::atomic<std::uint64_t> arguments[2];
  // Used by the node's first PE in a job over several nodes: the number of synchronizations that all nodes
  // have completed, and the calls in the last one.
  std::atomic<std::uint64_t> released;
  AgreedCalls calls;
  std::atomic<std::uint64_t> announced_exit;  ///< 0: none, else 2^32 + the exit status that ends the job
};
static_assert(sizeof(PeLine) == 128 && std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr int team_slots = GDRKIT_SHMEM_TEAMS_MAX;

/// Data of a PE for one exchange. Written before its arrival is counted, and read by PEs that have seen the count.
struct TeamWord {
  static constexpr std::size_t words_count = 8;
  static constexpr std::size_t most_bytes = 2048;

  std::uint64_t words[words_count];
  unsigned char data[most_bytes];
};

/// Exchanges use the two words alternately. A PE that reaches the next exchange has read the data of the previous one,
/// so no PE overwrites data that another still reads.
struct alignas(128) TeamLine {
  std::atomic<std::uint64_t> arrivals;  ///< exchanges of all teams that had this place
  alignas(128) TeamWord contributions[2];
};
static_assert(sizeof(TeamLine) % 128 == 0);

/// Of one PE, by the team's slot.
using TeamLines = TeamLine[team_slots];

}  // namespace gdrkit::shmem_impl::parts
