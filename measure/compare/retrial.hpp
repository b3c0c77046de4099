// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Retrial: a suspicious point is measured again on fresh buffers before it is reported as a regression.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "measure/compare/comparison.hpp"

namespace gdrkit::measure {

/// Of thousands of measurements some are outliers, which do not recur. The first measurement selected the point because
/// it was extreme, so it is not evidence. Only the trials count, by their median, each relative to its control in the
/// same rounds. A single trial neither confirms nor clears. An effect on some processes of a build (memory addresses)
/// is not an effect of the build: a slowdown must show in every trial, or in all but one of five.
class Retrial {
 public:
  static constexpr std::size_t fewest_to_clear = 2;
  static constexpr std::size_t fewest_to_confirm = 3;
  static constexpr std::size_t most_trials = 5;

  /// Both must outlive it.
  Retrial(const ComparedPoint& suspect, const Comparison& comparison) : suspect_(suspect), comparison_(comparison) {}

  void add(const Observation& observation);
  /// True if no further trial can matter: the median is beyond the limit, or below half of the threshold (for two
  /// trials, both are), or there were enough.
  [[nodiscard]] bool is_over() const;
  /// True if the median of all trials is beyond the limit, and no trial (one of five) is below half of it.
  [[nodiscard]] bool is_confirmed() const;
  [[nodiscard]] Change change() const { return pooled(changes_); }                   ///< after the first add()
  [[nodiscard]] double limit() const { return comparison_.family.limit(change()); }  ///< after the first add()

 private:
  /// The log_ratio that counts as a regression.
  [[nodiscard]] double threshold() const;

  const ComparedPoint& suspect_;
  const Comparison& comparison_;
  std::vector<Change> changes_;
};

enum class Outcome { slower, cleared, unresolved };

/// A suspicious point and the result of its retrial.
struct RetriedPoint {
  ComparedPoint point;
  Outcome outcome = Outcome::unresolved;
  Change again;            ///< of all trials
  double limit = 0;        ///< for `again`
  std::size_t trials = 0;  ///< 0: not measured again
};

/// A point measured again, and its control of the same rounds; empty if it cannot be measured.
struct Again {
  std::unique_ptr<Point> point;
  std::unique_ptr<Point> control;
};

/// By then a build that is slower everywhere is known to be slower; further suspects stay unresolved.
inline constexpr std::size_t most_retried = 30;

/// Measures each of these points once more; the results have the same order.
using MeasureAgain = std::function<std::vector<Again>(const std::vector<const ComparedPoint*>& suspects)>;

/// Measures the suspicious points again, all open ones at a time, the most conspicuous first, until each is confirmed
/// or cleared.
[[nodiscard]] std::vector<RetriedPoint> retry_suspects(const Comparison& comparison, const MeasureAgain& measure_again);

}  // namespace gdrkit::measure
