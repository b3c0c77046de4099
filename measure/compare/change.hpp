// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Change: how one point differs between two results, and how well that is known.
#pragma once

#include <cmath>
#include <vector>

#include "measure/result/result.hpp"

namespace gdrkit::measure {

/// One measurement of a point, with the control's point of the same rounds (nullptr: none).
struct Look {
  const Point* point = nullptr;
  const Point* control = nullptr;
};

/// How a control follows its series: the same operation on the same memory (the raw loop beside a copy), or just the
/// same machine at the same time.
enum class Kinship { same_operation, same_time };

/// The doubt about one side, in natural logarithms: equal factors are equal steps, and noise is relative.
struct Doubt {
  double own = 0;      ///< standard error, from the rounds
  double freedom = 1;  ///< how many independent values stand behind `own`
  double floor = 0;    ///< what two runs of one build differ by beyond that, known by experience
};

struct Change {
  double log_ratio = 0;  ///< of new to old; above 0 is worse
  Doubt old_doubt;
  Doubt new_doubt;
  bool is_controlled = false;

  /// Standard deviation, all in all.
  [[nodiscard]] double noise() const {
    return std::hypot(std::hypot(old_doubt.own, old_doubt.floor), std::hypot(new_doubt.own, new_doubt.floor));
  }
  [[nodiscard]] double percent() const { return (std::exp(log_ratio) - 1) * 100; }
};

/// Beside a kindred control: the change of the median of the rounds' ratios to it. A machine that is slower this time
/// slows both. Otherwise: that or the change of the median itself, whichever is smaller; a machine that is slower is no
/// evidence, and neither is a control that is faster.
/// `unrest`: the share of the CPU's time that others took, 0 to 1.
[[nodiscard]] Change change_of(const Look& old_look, const Look& new_look, bool is_lower_better, Kinship kinship,
                               double unrest = 0);

/// The log_ratio that chance reaches with probability `tail` at most. Each doubt counts as far as its own freedom lets
/// chance go, and they add in quadrature: three rounds that agree by luck get no credit for it.
[[nodiscard]] double limit_of(const Change& change, double tail);

/// Several new looks at one point, all compared with the same old one: the median change; the new side's noise shrinks
/// with their number, the old side's does not. `changes` is not empty.
[[nodiscard]] Change pooled(const std::vector<Change>& changes);

}  // namespace gdrkit::measure
