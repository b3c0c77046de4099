// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `chase`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// The result of chase.
struct ChaseState {
  std::uint64_t last;        ///< address reached
  std::uint64_t elapsed_ns;  ///< by the GPU's clock
};

/// Follows pointers, one load after the other: each word at an address is the next address. Uses one thread.
struct ChaseParameters {
  std::uint64_t start;
  std::uint64_t steps;
  std::uint64_t state;  ///< ChaseState
};

}  // namespace gdrkit::platform
