// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `stream_wait`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// One thread waits, at most as long as the state allows, and tells the state's control when it gave up. The driver's
/// wait (cuStreamWaitValue) has no limit: a dead PE would hold the stream for ever.
struct StreamWaitParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t address;
  std::uint64_t value;
  std::int32_t word;         ///< gdrkit_shmem_word
  std::uint32_t comparison;  ///< gdrkit_shmem_comparison
};

}  // namespace gdrkit::platform
