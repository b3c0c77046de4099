// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Limits of the mover for threads that play the GPU.
#pragma once

#include "engine/engine.hpp"

namespace gdrkit::fakes {

/// Such threads wait for a CPU now and then, on a busy machine for longer than any GPU needs.
[[nodiscard]] inline engine::ResidenceLimits patient_limits() {
  engine::ResidenceLimits limits;
  limits.idle = std::chrono::milliseconds(20);
  limits.busy = std::chrono::milliseconds(200);
  limits.start = std::chrono::seconds(5);
  limits.answer = std::chrono::seconds(5);
  return limits;
}

}  // namespace gdrkit::fakes
