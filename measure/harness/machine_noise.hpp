// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineNoise: the share of a CPU's time that other work takes, measured by a loop that only reads the clock.
#pragma once

#include "measure/harness/clock.hpp"

namespace gdrkit::measure {

struct MachineNoise {
  double observed_ms = 0;
  double lost_share = 0;  ///< of the observed time: gaps between two clock reads longer than gap_us
  double largest_gap_us = 0;
  int gaps = 0;

  static constexpr double gap_us = 1;  ///< an undisturbed clock read takes some 10 ns; an interrupt over 1 us
  /// On a machine that loses more than this, percentiles above p99 are those of other work, not of the copy.
  static constexpr double quiet_share = 0.001;
  [[nodiscard]] bool is_quiet() const noexcept { return lost_share <= quiet_share; }
};

/// Observes for `milliseconds` on the calling thread, which should be bound to its CPU.
[[nodiscard]] MachineNoise observe_machine_noise(const Clock& clock, double milliseconds);

}  // namespace gdrkit::measure
