// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Family: all points of one comparison, and the limits of chance among so many.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "measure/compare/change.hpp"

namespace gdrkit::measure {

/// Probability that a comparison of two runs of one build reports anything, if the noise estimate is right.
inline constexpr double false_alarm_rate = 0.005;
/// Probability that an unchanged point is measured again, which takes less than a second.
inline constexpr double suspicion_rate = 0.02;
/// Logarithm. Smaller changes are never reported, regardless of their certainty: two results of one build differ by 3 %
/// at some of several hundred points.
inline constexpr double smallest_change = 0.05;
/// Noise never excuses a change by this factor: if chance seems to reach that far, the noise is unknown.
inline constexpr double largest_excused_factor = 4;

class Family {
 public:
  Family() = default;
  /// `changes`: those that are compared. Changes with a control of the same operation also show how far two runs of one
  /// build differ on this machine today. Most points do not change, so their spread divided by the estimated noise is
  /// the factor by which that estimate was too low. It is taken from the side, slower or faster, with the smaller
  /// spread, because a build may be slower, or faster, at many points.
  explicit Family(const std::vector<Change>& changes);

  [[nodiscard]] std::size_t points() const noexcept { return points_; }
  /// 1 or more: factor by which limits exceed the noise from rounds and experience.
  [[nodiscard]] double excess() const noexcept { return excess_; }

  /// The log_ratio that chance exceeds in one of `false_alarm_rate` comparisons of so many points (Bonferroni).
  [[nodiscard]] double chance(const Change& change) const;
  /// The same, but at most the largest excused factor.
  [[nodiscard]] double limit(const Change& change) const;
  /// Whether noise hides even the largest excused factor.
  [[nodiscard]] bool is_hidden(const Change& change) const;
  /// Whether the point should be measured again, if possible.
  [[nodiscard]] bool is_suspicious(const Change& change) const;

 private:
  std::size_t points_ = 1;
  double excess_ = 1;
};

}  // namespace gdrkit::measure
