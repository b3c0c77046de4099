// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// StreamSignal: what a GPU kernel of a stream updates behind its data.
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

struct StreamSignal {
  std::uint64_t address = 0;  ///< of a 64-bit word, as this GPU reaches it; 0: none
  std::uint64_t value = 0;
  std::uint32_t operation = GDRKIT_SHMEM_SIGNAL_SET;  ///< gdrkit_shmem_signal
  std::uint32_t unused = 0;
};

}  // namespace gdrkit::platform
