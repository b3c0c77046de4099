// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters of the GPU kernels `stream_signal`, `stream_value` and `stream_wait`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// Uses one thread.
struct StreamSignal {
  std::uint64_t address = 0;  ///< of a 64-bit word, as accessed by this GPU; 0: none, for the launcher's use
  std::uint64_t value = 0;
  std::uint32_t operation = GDRKIT_SHMEM_SIGNAL_SET;  ///< gdrkit_shmem_signal
  std::uint32_t unused = 0;
};

/// One block stores the data.
struct StreamValueParameters {
  static constexpr unsigned most_words = 128;
  std::uint64_t target;  ///< any alignment
  std::uint64_t size_bytes;
  std::uint64_t words[most_words];
};

/// One thread waits until the state's limit, and records a timeout in the state's control. The driver's wait
/// (cuStreamWaitValue) has no limit: a dead PE would block the stream forever.
struct StreamWaitParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t address;
  std::uint64_t value;
  std::int32_t word;         ///< gdrkit_shmem_word
  std::uint32_t comparison;  ///< gdrkit_shmem_comparison
};

}  // namespace gdrkit::platform
