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
  put_signal,  ///< the other PE does not wait
  signal_set,
  atomic_add,
  atomic_fetch_add,
  atomic_compare_swap,
  ping_pong,
  barrier,
  sync,
  broadcast,  ///< this and the following over all PEs, by blocks
  fcollect,
  alltoall,
  reduce,  ///< sums of floats
  reducescatter,
};
inline constexpr auto last_shmem_operation = ShmemOperation::reducescatter;
enum class ShmemScope : std::uint32_t { thread, warp, block };

/// Zeroed before the launch. Times are those of the GPU's clock, over all groups.
struct ShmemResult {
  std::uint64_t begin_inverted_ns;  ///< ~ of the earliest start, so that all groups need only the maximum
  std::uint64_t end_ns;             ///< the latest
  std::uint64_t wrong;              ///< words of data, the maximum over all groups; ~0: a wait exceeded its limit

  [[nodiscard]] std::uint64_t elapsed_ns() const noexcept { return end_ns - ~begin_inverted_ns; }
};

/// Runs the operation with PE `peer` `rounds` times. Each group has separate bytes, one after the other. ping_pong and
/// all operations after it have one group.
struct ShmemParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t target;      ///< a multiple of 8, except for put and get; in this PE's heap: for gets its own copy,
                             ///< otherwise the other PE's
  std::uint64_t source;      ///< the same
  std::uint64_t size_bytes;  ///< of each group; for ping_pong and many groups a multiple of 8; for collectives a part's
  std::uint64_t signal;      ///< for signals: a word; for ping_pong it is `rounds_before` on both PEs
  std::uint64_t result;      ///< ShmemResult
  std::uint64_t rounds_before;
  ShmemOperation operation;
  ShmemScope scope;
  std::uint32_t rounds;
  std::uint32_t peer;
  std::uint32_t completes_each;   ///< for operations that do not wait: quiet after each round, otherwise after the last
  std::uint32_t has_every_group;  ///< 0: the first group of each block works; 1: all groups
  std::uint32_t checks_data;      ///< for ping_pong: writes each round's data and checks the received data
  std::uint32_t untimed_rounds;   ///< before the timed ones: PEs synchronize in them, and instructions are fetched
  std::uint64_t step_bytes;  ///< for put, get, their values and put_signal: distance of the rounds' places in the other
                             ///< PE's memory; a multiple of 8
  std::uint64_t
      path_bytes;  ///< after this many bytes the first place again: a multiple of step_bytes; both 0: one place
};

}  // namespace gdrkit::platform
