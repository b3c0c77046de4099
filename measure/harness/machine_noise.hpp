// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineNoise: how much of a CPU's time others take, seen by a loop that does nothing but look at the clock.
#pragma once

#include "measure/harness/clock.hpp"

namespace gdrkit::measure {

struct MachineNoise {
  double observed_ms = 0;
  double lost_share = 0;  ///< of the observed time: gaps between two looks longer than gap_us
  double largest_gap_us = 0;
  int gaps = 0;

  static constexpr double gap_us = 1;  ///< an undisturbed look takes some 10 ns; an interrupt over 1 us
  /// Percentiles beyond p99 are the machine's, not the copy's, on a machine that loses more than this.
  static constexpr double quiet_share = 0.001;
  [[nodiscard]] bool is_quiet() const noexcept { return lost_share <= quiet_share; }
};

/// Looks for `milliseconds` on the calling thread, which should stay on its CPU.
[[nodiscard]] MachineNoise observe_machine_noise(const Clock& clock, double milliseconds);

}  // namespace gdrkit::measure
