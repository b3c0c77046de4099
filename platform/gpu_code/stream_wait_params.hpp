// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `stream_wait`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// One thread waits, up to the limit in the state, and reports a timeout to the state's control block. The driver's
/// wait (cuStreamWaitValue) has no limit: a dead PE would block the stream forever.
struct StreamWaitParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t address;
  std::uint64_t value;
  std::int32_t word;         ///< gdrkit_shmem_word
  std::uint32_t comparison;  ///< gdrkit_shmem_comparison
};

}  // namespace gdrkit::platform
