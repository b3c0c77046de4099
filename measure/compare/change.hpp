// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Change: how one point differs between two results, and how well that is known.
#pragma once

#include <cmath>
#include <vector>

#include "measure/compare/spread.hpp"
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

/// What both results have in common with all of their points.
struct Circumstances {
  double unrest = 0;         ///< the larger share of the CPU's time that others took, of both runs: 0 to 1
  bool is_emulated = false;  ///< one of them copied to ordinary memory
  Spread usual_ratio;        ///< of the rounds' ratios to a control of the same operation
  Spread usual_plain;        ///< of the rounds themselves
};

/// The doubt about one side, in natural logarithms: equal factors are equal steps, and noise is relative.
struct Doubt {
  double own = 0;      ///< standard error, from the rounds
  double freedom = 1;  ///< how many independent values stand behind `own`
  double floor = 0;    ///< what two runs of one build differ by beyond that, known by experience
  double step = 0;     ///< the same in time, as a share of the old value: it adds to a time, and multiplies nothing
};

struct Change {
  double log_ratio = 0;  ///< of new to old; above 0 is worse
  Doubt old_doubt;
  Doubt new_doubt;
  bool is_controlled = false;
  bool is_kindred = false;  ///< beside a control of the same operation

  /// Standard deviation, all in all.
  [[nodiscard]] double noise() const;
  [[nodiscard]] double percent() const { return (std::exp(log_ratio) - 1) * 100; }
};

/// The logarithms of a look's rounds, or of their ratios to the control's.
[[nodiscard]] std::vector<double> logs_of(const Look& look, bool is_controlled);

/// Beside a kindred control: the change of the median of the rounds' ratios to it. A machine that is slower this time
/// slows both. Otherwise: that or the change of the median itself, whichever is smaller; a machine that is slower is no
/// evidence, and neither is a control that is faster.
[[nodiscard]] Change change_of(const Look& old_look, const Look& new_look, bool is_lower_better, Kinship kinship,
                               const Circumstances& circumstances = {});

/// The log_ratio that chance reaches with probability `tail` at most. Each doubt counts as far as its own freedom lets
/// chance go, and they add in quadrature: three rounds that agree by luck get no credit for it.
[[nodiscard]] double limit_of(const Change& change, double tail);

/// Several new looks at one point, all compared with the same old one: the median change; the new side's noise shrinks
/// with their number, the old side's does not. Looks that differ by more than their noise explains count as that much
/// noisier. `changes` is not empty.
[[nodiscard]] Change pooled(const std::vector<Change>& changes);

}  // namespace gdrkit::measure
