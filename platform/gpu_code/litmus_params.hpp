// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `litmus`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// LitmusWork implements the writer and the reader of each shape.
enum class LitmusShape : std::uint32_t {
  put_signal,       ///< a block's data, then its signal
  put_fence_put,    ///< message passing between two words of one PE
  third_word,       ///< the flag is on the writer, the data on the reader
  atomics,          ///< the flag is a counter
  fresh_get,        ///< the data is on the writer, and the reader gets it
  store_buffering,  ///< each PE writes a word of the other one, then reads its own
};
/// Deliberate mistakes, which the test must detect.
enum class LitmusMistake : std::uint32_t {
  none,
  no_fence,  ///< the writer omits its fence
  no_order,  ///< the writer writes the flag first, and waits until the reader has seen it
  cached,    ///< fresh_get: the reader's get uses ordinary loads
};

/// Zeroed before the launch.
struct LitmusResult {
  std::uint64_t looks;    ///< reads of the flag
  std::uint64_t raced;    ///< reads that saw a new flag
  std::uint64_t broken;   ///< reads with a forbidden result
  std::uint64_t expired;  ///< waits that exceeded the limit in the state
};

/// Bytes per instance in `words`: each word has cache lines of its own.
inline constexpr std::uint64_t litmus_stride_bytes = 768;

/// PE `writer` writes and PE `reader` reads, `rounds` times, in many concurrent instances: one per block (put_signal),
/// per thread of one block (store_buffering), or per thread of all blocks.
struct LitmusParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t words;   ///< symmetric, zeroed: litmus_stride_bytes per instance
  std::uint64_t target;  ///< for put_signal: symmetric, zeroed, size_bytes per instance
  std::uint64_t source;  ///< likewise
  std::uint64_t size_bytes;
  std::uint64_t result;  ///< LitmusResult of this PE
  LitmusShape shape;
  LitmusMistake mistake;
  std::uint32_t rounds;
  std::uint32_t writer;
  std::uint32_t reader;
  std::uint32_t instances;  ///< for store_buffering
};

}  // namespace gdrkit::platform
