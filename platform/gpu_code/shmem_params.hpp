// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `shmem`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

enum class ShmemOperation : std::uint32_t {
  put,
  get,
  put_value,
  get_value,
  put_signal,  ///< the peer does not wait
  signal_set,
  atomic_add,
  atomic_fetch_add,
  atomic_compare_swap,
  ping_pong,
  barrier,
  sync,
  broadcast,  ///< this and the following: by all PEs, in blocks
  fcollect,
  alltoall,
  reduce,  ///< sums of floats
  reducescatter,
};
inline constexpr auto last_shmem_operation = ShmemOperation::reducescatter;
enum class ShmemScope : std::uint32_t { thread, warp, block };

/// Zeroed before the launch. Times are from the GPU's clock, over all groups.
struct ShmemResult {
  std::uint64_t begin_inverted_ns;  ///< ~earliest start, so that atomicMax suffices
  std::uint64_t end_ns;             ///< latest end
  std::uint64_t wrong;              ///< largest number of wrong words in a group; ~0: a wait exceeded its limit

  [[nodiscard]] std::uint64_t elapsed_ns() const noexcept { return end_ns - ~begin_inverted_ns; }
};

/// Runs the operation with PE `peer` `rounds` times. Each group uses its own bytes, in order of the groups. ping_pong
/// and the operations after it use one group.
struct ShmemParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t target;  ///< in this PE's heap; for gets the local copy, otherwise the peer's. A multiple of 8, except
                         ///< for put and get
  std::uint64_t source;  ///< the same alignment
  /// Per group. For ping_pong and many groups a multiple of 8; for collectives the size of one part.
  std::uint64_t size_bytes;
  std::uint64_t signal;  ///< a signal word; for ping_pong it must hold `rounds_before` on both PEs
  std::uint64_t result;  ///< ShmemResult
  std::uint64_t rounds_before;
  ShmemOperation operation;
  ShmemScope scope;
  std::uint32_t rounds;
  std::uint32_t peer;
  std::uint32_t completes_each;   ///< nonblocking operations: 1: quiet after each round; 0: after the last
  std::uint32_t has_every_group;  ///< 0: the first group of each block; 1: all groups
  std::uint32_t checks_data;      ///< ping_pong: write each round's data and compare the received data
  std::uint32_t untimed_rounds;   ///< warm-up rounds: they synchronize the PEs and load instructions
  std::uint64_t step_bytes;       ///< put, get, put_value, get_value, put_signal: distance in the peer's memory between
                                  ///< two rounds; a multiple of 8
  std::uint64_t path_bytes;       ///< offset at which it wraps to the start: a multiple of step_bytes; both 0: no steps
};

}  // namespace gdrkit::platform
