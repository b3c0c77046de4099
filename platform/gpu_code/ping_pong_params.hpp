// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `ping_pong`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// Counters of ping_pong in device memory. The launcher initializes them to zero.
struct PingPongState {
  std::uint32_t arrivals;    ///< of blocks, all rounds together
  std::uint32_t mismatches;  ///< words of data that differ from the round's value
  std::uint64_t elapsed_ns;  ///< by the GPU's clock, of all rounds
};

/// One side of a ping-pong. Round i has the value first + i. The CPU writes it to `ping`, after filling the data with
/// it. The GPU waits for it there, checks the data, and writes it to `pong` as the reply. With is_gpu_first the GPU
/// fills the data and writes `pong`, and then waits for `ping`.
struct PingPongParameters {
  std::uint64_t ping;        ///< a 32-bit word that the GPU polls
  std::uint64_t pong;        ///< a 32-bit word that the CPU polls
  std::uint64_t data;        ///< 0 without data
  std::uint64_t data_bytes;  ///< a multiple of 4
  std::uint64_t state;       ///< PingPongState
  std::uint64_t end;         ///< KernelEnd, readable by the CPU while the GPU kernel runs
  std::uint64_t limit_ns;    ///< for each wait
  std::uint32_t first;
  std::uint32_t rounds;
  std::uint32_t is_gpu_first;
  std::uint32_t unused;
};

}  // namespace gdrkit::platform
