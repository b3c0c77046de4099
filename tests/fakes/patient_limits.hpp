// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Limits of the mover for threads that emulate the GPU.
#pragma once

#include "engine/engine.hpp"

namespace gdrkit::fakes {

/// Such threads sometimes wait for a CPU, on a busy machine for longer than any GPU.
[[nodiscard]] inline engine::ResidenceLimits patient_limits() {
  engine::ResidenceLimits limits;
  limits.idle = std::chrono::milliseconds(20);
  limits.busy = std::chrono::milliseconds(200);
  limits.start = std::chrono::seconds(5);
  limits.response = std::chrono::seconds(5);
  return limits;
}

}  // namespace gdrkit::fakes
