// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `litmus`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// LitmusWork describes the writer's and the reader's part of each.
enum class LitmusShape : std::uint32_t {
  put_signal,       ///< data of a block, then its signal
  put_fence_put,    ///< message passing between two words of one PE
  third_word,       ///< the flag is in the writer's memory, the data in the reader's
  atomics,          ///< the flag is a counter
  fresh_get,        ///< the data is in the writer's memory, and the reader gets it
  store_buffering,  ///< each writes a word of the other PE, and then reads its own
};
/// Deliberate mistakes, which the test must detect.
enum class LitmusMistake : std::uint32_t {
  none,
  no_fence,  ///< the hardware decides the writer's order
  no_order,  ///< the writer reverses the order, and waits in between until the reader has seen the flag
  cached,    ///< for fresh_get: the reader's get uses ordinary loads
};

/// Zeroed before the launch.
struct LitmusResult {
  std::uint64_t reads;    ///< of the reader
  std::uint64_t raced;    ///< number of reads that saw a new value
  std::uint64_t broken;   ///< number of reads that saw a forbidden value
  std::uint64_t expired;  ///< waits that exceeded the state's limit
};

/// Bytes of an instance in `words`: separate lines for each word.
inline constexpr std::uint64_t litmus_stride_bytes = 768;

/// PE `writer` writes and the other PE reads, `rounds` times, in many instances at a time: one for each block
/// (put_signal), each thread (store_buffering: of one block), or each thread of all blocks.
struct LitmusParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t words;   ///< symmetric, zeroed: litmus_stride_bytes for each instance
  std::uint64_t target;  ///< for put_signal: symmetric, zeroed, size_bytes for each instance
  std::uint64_t source;  ///< the same
  std::uint64_t size_bytes;
  std::uint64_t result;  ///< LitmusResult, of this PE
  LitmusShape shape;
  LitmusMistake mistake;
  std::uint32_t rounds;
  std::uint32_t writer;
  std::uint32_t reader;
  std::uint32_t instances;  ///< for store_buffering
};

}  // namespace gdrkit::platform
