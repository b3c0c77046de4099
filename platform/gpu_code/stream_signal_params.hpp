// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `stream_signal`, for the GPU and the CPU.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// One thread updates the signal.
struct StreamSignal {
  std::uint64_t address = 0;  ///< of a 64-bit word that this GPU can access; 0: no signal, for the launcher
  std::uint64_t value = 0;
  std::uint32_t operation = GDRKIT_SHMEM_SIGNAL_SET;  ///< gdrkit_shmem_signal
  std::uint32_t unused = 0;
};

}  // namespace gdrkit::platform
