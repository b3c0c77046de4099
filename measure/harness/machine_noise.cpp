// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/harness/machine_noise.hpp"

#include <algorithm>

namespace gdrkit::measure {

MachineNoise observe_machine_noise(const Clock& clock, double milliseconds) {
  constexpr double ns_per_ms = 1e6;
  constexpr double ns_per_us = 1e3;
  MachineNoise noise;
  double lost_ns = 0;
  const std::uint64_t begin = clock.now();
  std::uint64_t last = begin;
  while (clock.ns(last - begin) < milliseconds * ns_per_ms) {
    const std::uint64_t look = clock.now();
    const double gap_ns = clock.ns(look - last);
    if (gap_ns > MachineNoise::gap_us * ns_per_us) {
      ++noise.gaps;
      lost_ns += gap_ns;
      noise.largest_gap_us = std::max(noise.largest_gap_us, gap_ns / ns_per_us);
    }
    last = look;
  }
  const double observed_ns = clock.ns(last - begin);
  noise.observed_ms = observed_ns / ns_per_ms;
  noise.lost_share = observed_ns > 0 ? lost_ns / observed_ns : 0;
  return noise;
}

}  // namespace gdrkit::measure
