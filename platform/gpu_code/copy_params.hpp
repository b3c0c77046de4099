// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `copy`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// Copies `size_bytes` from source to target, `loops` times. All threads copy, 16 bytes at a time.
struct CopyParameters {
  std::uint64_t target;  ///< a multiple of 16
  std::uint64_t source;  ///< a multiple of 16; must not overlap the target
  std::uint64_t size_bytes;
  std::uint32_t loops;
  std::uint32_t unused;
};

}  // namespace gdrkit::platform
