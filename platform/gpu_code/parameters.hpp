// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What each GPU kernel is told. Compiled by nvcc and by the C++ compiler alike: words of one size, addresses as the
// device sees them.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// How a GPU kernel that waits has ended, in a word of memory that the CPU reads. The launcher sets it to running.
enum class KernelEnd : std::uint32_t { running = 0, finished = 1, stopped = 2, expired = 3 };

/// A ping of this value ends ping_pong, as the same value ends burn and opens gate.
inline constexpr std::uint32_t stop_word = 0xffffffff;

/// What ping_pong counts, in device memory. The launcher sets it to zeros.
struct PingPongState {
  std::uint32_t arrivals;    ///< of blocks, all rounds together
  std::uint32_t mismatches;  ///< words of data that did not hold the round's value
  std::uint64_t elapsed_ns;  ///< by the GPU's clock, of all rounds
};

/// One side of a ping-pong. Round i is played with the value first + i. The CPU's side writes it to `ping` (after
/// filling the data with it); the GPU's waits for it there, looks at the data, and answers with it in `pong`. With
/// is_gpu_first the GPU fills the data and writes `pong`, and then waits for `ping`.
struct PingPongParameters {
  std::uint64_t ping;        ///< a 32-bit word that the GPU polls
  std::uint64_t pong;        ///< a 32-bit word that the CPU polls
  std::uint64_t data;        ///< 0 without data
  std::uint64_t data_bytes;  ///< a multiple of 4
  std::uint64_t state;       ///< PingPongState
  std::uint64_t end;         ///< KernelEnd, where the CPU can read it while the GPU kernel runs
  std::uint64_t limit_ns;    ///< for each wait
  std::uint32_t first;
  std::uint32_t rounds;
  std::uint32_t is_gpu_first;
  std::uint32_t unused;
};

/// Copies `size_bytes` from source to target, `loops` times over. All threads take part, 16 bytes at a time.
struct CopyParameters {
  std::uint64_t target;  ///< a multiple of 16
  std::uint64_t source;  ///< a multiple of 16; must not overlap the target
  std::uint64_t size_bytes;
  std::uint32_t loops;
  std::uint32_t unused;
};

/// What chase found.
struct ChaseState {
  std::uint64_t last;        ///< address reached
  std::uint64_t elapsed_ns;  ///< by the GPU's clock
};

/// Follows pointers, one load after the other: each word at an address is the next address. One thread does it.
struct ChaseParameters {
  std::uint64_t start;
  std::uint64_t steps;
  std::uint64_t state;  ///< ChaseState
};

/// Holds its stream until `flag` is not zero.
struct GateParameters {
  std::uint64_t flag;  ///< a 32-bit word that the CPU writes, in mapped host memory
  std::uint64_t end;   ///< KernelEnd
  std::uint64_t limit_ns;
};

/// Reads and writes all of `scratch`, multiplies and adds, again and again until `stop` is not zero. Every block works
/// on; the end is told by the first.
struct BurnParameters {
  std::uint64_t stop;           ///< a 32-bit word that the CPU writes, in mapped host memory
  std::uint64_t end;            ///< KernelEnd
  std::uint64_t scratch;        ///< a multiple of 16
  std::uint64_t scratch_bytes;  ///< a multiple of 16
  std::uint64_t passes;         ///< a 64-bit word in device memory: how often the first block went through its share
  std::uint64_t limit_ns;
};

}  // namespace gdrkit::platform
