// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `burn`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// Reads, modifies and writes all of `scratch` repeatedly until `stop` is not zero. All blocks run; the first one
/// reports the end.
struct BurnParameters {
  std::uint64_t stop;           ///< a 32-bit word that the CPU writes, in mapped host memory
  std::uint64_t end;            ///< KernelEnd
  std::uint64_t scratch;        ///< a multiple of 16
  std::uint64_t scratch_bytes;  ///< a multiple of 16
  std::uint64_t passes;         ///< a 64-bit word in device memory: completed passes of the first block over its share
  std::uint64_t limit_ns;
};

}  // namespace gdrkit::platform
