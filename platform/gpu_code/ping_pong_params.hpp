// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `ping_pong`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// Counters of ping_pong, in device memory. The launcher zeroes them.
struct PingPongState {
  std::uint32_t arrivals;    ///< arrivals of blocks, in all rounds
  std::uint32_t mismatches;  ///< data words that differed from the round's value
  std::uint64_t elapsed_ns;  ///< all rounds, measured by the GPU's clock
};

/// The GPU's side of a ping-pong. Round i uses the value first + i. The CPU fills the data with it and writes it to
/// `ping`. The GPU waits for it, checks the data, and writes the value to `pong`. With is_gpu_first the GPU fills the
/// data, writes `pong`, and then waits for `ping`.
struct PingPongParameters {
  std::uint64_t ping;        ///< a 32-bit word that the GPU polls
  std::uint64_t pong;        ///< a 32-bit word that the CPU polls
  std::uint64_t data;        ///< 0: no data
  std::uint64_t data_bytes;  ///< a multiple of 4
  std::uint64_t state;       ///< PingPongState
  std::uint64_t end;         ///< KernelEnd; the CPU must be able to read it while the GPU kernel runs
  std::uint64_t limit_ns;    ///< of each wait
  std::uint32_t first;
  std::uint32_t rounds;
  std::uint32_t is_gpu_first;
  std::uint32_t unused;
};

}  // namespace gdrkit::platform
