// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Family: all points of one comparison, and how far chance reaches among so many.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "measure/compare/change.hpp"

namespace gdrkit::measure {

/// Probability that a comparison of two runs of one build finds anything at all, if noise were what it is taken for.
inline constexpr double false_alarm_rate = 0.005;
/// Probability for one point without a change to be looked at again; looking costs less than a second.
inline constexpr double suspicion_rate = 0.02;
/// Logarithm. Changes below this are never reported, however certain they are: two recordings of one build differ
/// by 3 % at some point or other of several hundred.
inline constexpr double smallest_change = 0.05;
/// No noise excuses a change by this factor: where chance is thought to reach that far, the noise is not known.
inline constexpr double largest_excused_factor = 4;

class Family {
 public:
  Family() = default;
  /// Of the changes that are compared. Those beside a control of the same operation also tell how far two runs of one
  /// build differ on this machine today: most points do not change, so their spread, over the noise they are thought to
  /// have, is the factor by which that was too low. Taken from the side, slower or faster, that spreads less, as a
  /// build may well be slower, or faster, at many points.
  explicit Family(const std::vector<Change>& changes);

  [[nodiscard]] std::size_t points() const noexcept { return points_; }
  /// 1 or more: limits are this much wider than the noise of the rounds and experience alone would have them.
  [[nodiscard]] double excess() const noexcept { return excess_; }

  /// The log_ratio that chance reaches in one of `false_alarm_rate` comparisons of so many points (Bonferroni).
  [[nodiscard]] double chance(const Change& change) const;
  /// The same, and never beyond the largest excused factor.
  [[nodiscard]] double limit(const Change& change) const;
  /// Whether noise hides even the largest excused factor.
  [[nodiscard]] bool is_hidden(const Change& change) const;
  /// Worth another look, if there can be one.
  [[nodiscard]] bool is_suspicious(const Change& change) const;

 private:
  std::size_t points_ = 1;
  double excess_ = 1;
};

}  // namespace gdrkit::measure
