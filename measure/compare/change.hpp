// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Change: the difference of one point between two results, and its uncertainty. Family: all points of one comparison,
// and the limits of chance among so many.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "measure/compare/spread.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure {

/// One observation of a point, paired with the control's point of the same rounds (nullptr: none).
struct Observation {
  const Point* point = nullptr;
  const Point* control = nullptr;
};

/// The relation of a control to its series: the same operation on the same memory (the raw loop for a copy), or only
/// the same machine at the same time.
enum class Kinship { same_operation, same_time };

/// Properties that all points of both results share.
struct Circumstances {
  double unrest = 0;         ///< the larger share of the CPU's time that others took, of both runs: 0 to 1
  bool is_emulated = false;  ///< one of them copied to ordinary memory
  Spread usual_ratio;        ///< of the rounds' ratios to a control of the same operation
  Spread usual_plain;        ///< of the rounds themselves
};

/// The uncertainty of one side, in natural logarithms: equal factors are equal steps, and noise is relative.
struct Doubt {
  double own = 0;      ///< standard error, from the rounds
  double freedom = 1;  ///< number of independent values behind `own`
  double floor = 0;    ///< further difference between two runs of one build, known from experience
  double step = 0;     ///< the same in time, as a share of the old value: it adds to a time instead of multiplying it
};

struct Change {
  double log_ratio = 0;  ///< of new to old; above 0 is worse
  Doubt old_doubt;
  Doubt new_doubt;
  bool is_controlled = false;
  bool is_kindred = false;  ///< has a control of the same operation

  /// Total standard deviation.
  [[nodiscard]] double noise() const;
  [[nodiscard]] double percent() const { return (std::exp(log_ratio) - 1) * 100; }
};

/// The logarithms of the rounds of an observation, or of their ratios to the control's.
[[nodiscard]] std::vector<double> logs_of(const Observation& observation, bool is_controlled);

/// With a control of the same operation: the change of the median of the rounds' ratios to it, because a slower machine
/// slows both. Otherwise: the smaller of that and the change of the median. A slower machine is not evidence, and
/// neither is a faster control.
[[nodiscard]] Change change_of(const Observation& old_observation, const Observation& new_observation,
                               bool is_lower_better, Kinship kinship, const Circumstances& circumstances = {});

/// The log_ratio that chance exceeds with at most probability `tail`. The doubts add in quadrature, each weighted by
/// its own degrees of freedom: three rounds that agree by chance get no credit for it.
[[nodiscard]] double limit_of(const Change& change, double tail);

/// Several new measurements of one point, all compared with the same old one: the median change. The new side's noise
/// shrinks with their number, the old side's does not. Measurements that differ by more than their noise count as that
/// much noisier. `changes` must not be empty.
[[nodiscard]] Change pooled(const std::vector<Change>& changes);

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
