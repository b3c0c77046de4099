// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `chase`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// Results of chase.
struct ChaseState {
  std::uint64_t last;        ///< last address
  std::uint64_t elapsed_ns;  ///< measured by the GPU's clock
};

/// One thread follows pointers, one load after the other: each word holds the address of the next one.
struct ChaseParameters {
  std::uint64_t start;
  std::uint64_t steps;
  std::uint64_t state;  ///< ChaseState
};

}  // namespace gdrkit::platform
