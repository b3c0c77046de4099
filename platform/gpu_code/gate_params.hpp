// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `gate`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// Blocks its stream until `flag` is not zero.
struct GateParameters {
  std::uint64_t flag;  ///< a 32-bit word that the CPU writes, in mapped host memory
  std::uint64_t end;   ///< KernelEnd
  std::uint64_t limit_ns;
};

}  // namespace gdrkit::platform
