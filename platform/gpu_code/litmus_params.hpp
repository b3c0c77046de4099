// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `litmus`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// The writer's and the reader's part of each stand at LitmusWork.
enum class LitmusShape : std::uint32_t {
  put_signal,       ///< data of a block, then its signal
  put_fence_put,    ///< message passing between two words of one PE
  third_word,       ///< the flag lies with the writer, the data with the reader
  atomics,          ///< the flag is a counter
  fresh_get,        ///< the data lies with the writer, and the reader gets it
  store_buffering,  ///< each writes a word of the other one, and then reads its own
};
/// Mistakes on purpose: the test must be able to see them.
enum class LitmusMistake : std::uint32_t {
  none,
  no_fence,  ///< the writer's order is left to the hardware
  no_order,  ///< the writer does it the wrong way round, and waits in between until it has been seen
  cached,    ///< of fresh_get: the reader's get is made of ordinary loads
};

/// Zeroed before the launch.
struct LitmusResult {
  std::uint64_t looks;    ///< of the reader
  std::uint64_t raced;    ///< of those, how many saw something new
  std::uint64_t broken;   ///< of those, how many saw what is forbidden
  std::uint64_t expired;  ///< waits that exceeded the state's limit
};

/// Bytes of an instance in `words`: lines of its own for each word.
inline constexpr std::uint64_t litmus_stride_bytes = 768;

/// PE `writer` writes and the other one of the two reads, `rounds` times, in each of many instances at a time: one for
/// each block (put_signal), each thread (store_buffering: of one block), or each thread of all blocks.
struct LitmusParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t words;   ///< symmetric, zeroed: litmus_stride_bytes for each instance
  std::uint64_t target;  ///< of put_signal: symmetric, zeroed, size_bytes for each instance
  std::uint64_t source;  ///< likewise
  std::uint64_t size_bytes;
  std::uint64_t result;  ///< LitmusResult, of this PE
  LitmusShape shape;
  LitmusMistake mistake;
  std::uint32_t rounds;
  std::uint32_t writer;
  std::uint32_t reader;
  std::uint32_t instances;  ///< of store_buffering
};

}  // namespace gdrkit::platform
