// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Retrial: a point that stands out is measured again, on fresh buffers, before it is called a regression.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "measure/compare/comparison.hpp"

namespace gdrkit::measure {

/// Of thousands of looks some are far out; those do not come again. The first look chose the point because it was far
/// out, so it is no evidence: only the trials count, each beside its control in the same rounds, by their median. One
/// trial alone neither convicts nor clears. What slows some processes of a build and not others (where its memory lies)
/// is not the build: a slowdown shows in every trial, or in all but one of five.
class Retrial {
 public:
  static constexpr std::size_t fewest_to_clear = 2;
  static constexpr std::size_t fewest_to_confirm = 3;
  static constexpr std::size_t most_trials = 5;

  /// Both must outlive it.
  Retrial(const ComparedPoint& suspect, const Comparison& comparison) : suspect_(suspect), comparison_(comparison) {}

  void add(const Look& look);
  /// No further trial can matter: the median is beyond the limit, or below half of what would count (of two trials,
  /// both are), or there were enough.
  [[nodiscard]] bool is_over() const;
  /// As slow again in the median of all trials, beyond the limit, and no trial (one of five) below half of it.
  [[nodiscard]] bool is_confirmed() const;
  [[nodiscard]] Change change() const { return pooled(changes_); }                   ///< after the first add()
  [[nodiscard]] double limit() const { return comparison_.family.limit(change()); }  ///< after the first add()

 private:
  /// The log_ratio that would count.
  [[nodiscard]] double threshold() const;

  const ComparedPoint& suspect_;
  const Comparison& comparison_;
  std::vector<Change> changes_;
};

enum class Outcome { slower, cleared, unresolved };

/// A point that stood out, and what came of it.
struct RetriedPoint {
  ComparedPoint point;
  Outcome outcome = Outcome::unresolved;
  Change again;            ///< of all trials
  double limit = 0;        ///< for `again`
  std::size_t trials = 0;  ///< 0: not measured again
};

/// A point measured again, and its control of the same rounds; no point when it cannot be measured.
struct Again {
  std::unique_ptr<Point> point;
  std::unique_ptr<Point> control;
};

/// A build that is slower everywhere is known as such by then; further suspects are unresolved.
inline constexpr std::size_t most_retried = 30;

/// One more trial of each of these points, in their order.
using MeasureAgain = std::function<std::vector<Again>(const std::vector<const ComparedPoint*>& suspects)>;

/// Measures the suspicious points again, all that are still open at a time, the most conspicuous first, until each is
/// confirmed or cleared.
[[nodiscard]] std::vector<RetriedPoint> retry_suspects(const Comparison& comparison, const MeasureAgain& measure_again);

}  // namespace gdrkit::measure
