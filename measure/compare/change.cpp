// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/change.hpp"

#include <algorithm>

#include "measure/compare/spread.hpp"
#include "measure/harness/samples.hpp"

namespace gdrkit::measure {
namespace {

/// The difference between two runs of one build beyond the noise within each (addresses of buffers, other load), as a
/// standard deviation for one side. docs/design/0008 describes the runs behind these values.
constexpr double floor_same_operation = 0.008;
constexpr double floor_uncontrolled = 0.1;
/// The same in time: how a copy's instructions overlap with its neighbours'. Through BAR1 the bus determines the pace.
/// In ordinary memory the core does, and depends on other memory accesses.
constexpr double step_ns = 1.5;
constexpr double step_emulated_ns = 4;
/// Its growth with the square of the share of time that others took: negligible at 10 %, threefold at 80 %.
constexpr double step_growth = 4;
/// In ordinary memory raw loops of some lines have two modes that last a run (64 bytes: 122 and 182 ns). Below this
/// time a faster control is only trusted as far as a whole machine may vary.
constexpr double largest_small_ns = 500;
constexpr double largest_drift = 0.1;
/// The median of normal values is less certain than their mean, by the root of pi / 2.
constexpr double price_of_median = 1.2533;
/// Makes the median deviation a standard deviation for a normal distribution.
constexpr double deviation_of_median = 1.4826;
/// For a single value without further knowledge.
constexpr double unknown_noise = 0.3;
constexpr double certain = 1e7;  // freedom of what is known

struct Side {
  double log_value = 0;
  Doubt doubt;
};

/// Knowledge about both sides before they are compared in one way.
struct Manner {
  bool is_controlled = false;
  double floor = 0;
  double step = 0;
  Spread usual;
};

Side side_of(const Observation& observation, const Manner& manner) {
  const std::vector<double> logs = logs_of(observation, manner.is_controlled);
  Side side;
  side.log_value = median(logs);
  side.doubt.floor = manner.floor;
  side.doubt.step = manner.step;
  const Spread spread = moderated(spread_of(logs), manner.usual);
  const auto count = static_cast<double>(std::max<std::size_t>(logs.size(), 1));
  side.doubt.own = spread.freedom == 0 ? unknown_noise : price_of_median * spread.deviation / std::sqrt(count);
  side.doubt.freedom = std::max(spread.freedom, 1.0);
  return side;
}

bool has_same_rounds(const Observation& observation) {
  return observation.control != nullptr && observation.control->rounds.size() == observation.point->rounds.size() &&
         !observation.point->rounds.empty() && minimum(observation.control->rounds) > 0;
}

Change between(const Observation& old_observation, const Observation& new_observation, bool is_lower_better,
               const Manner& manner) {
  const Side old_side = side_of(old_observation, manner);
  const Side new_side = side_of(new_observation, manner);
  Change change;
  change.log_ratio = (new_side.log_value - old_side.log_value) * (is_lower_better ? 1 : -1);
  change.old_doubt = old_side.doubt;
  change.new_doubt = new_side.doubt;
  change.is_controlled = manner.is_controlled;
  return change;
}

/// With fewer changes on one side its spread cannot be estimated.
constexpr std::size_t enough_on_a_side = 8;
/// A machine that exceeds this is unsuitable for measurements; a regression must not widen its own limit.
constexpr double largest_excess = 3;
/// The median of the absolute value of a standard normal variable.
constexpr double median_of_half_normal = 0.6745;

double excess_of(const std::vector<Change>& changes) {
  std::vector<double> slower;
  std::vector<double> faster;
  for (const Change& change : changes) {
    if (!change.is_kindred || change.noise() <= 0) continue;
    (change.log_ratio > 0 ? slower : faster).push_back(std::abs(change.log_ratio) / change.noise());
  }
  if (slower.size() < enough_on_a_side || faster.size() < enough_on_a_side) return 1;
  const double spread = std::min(median(std::move(slower)), median(std::move(faster))) / median_of_half_normal;
  return std::clamp(spread, 1.0, largest_excess);
}

}  // namespace

double Change::noise() const {
  return std::hypot(std::hypot(old_doubt.own, old_doubt.floor, old_doubt.step),
                    std::hypot(new_doubt.own, new_doubt.floor, new_doubt.step));
}

std::vector<double> logs_of(const Observation& observation, bool is_controlled) {
  const Point& point = *observation.point;
  const Point* const control = is_controlled ? observation.control : nullptr;
  std::vector<double> logs;
  for (std::size_t round = 0; round < point.rounds.size(); ++round) {
    const double other = control == nullptr ? 1 : control->rounds[round];
    if (point.rounds[round] > 0 && other > 0) logs.push_back(std::log(point.rounds[round] / other));
  }
  if (logs.empty() && point.value > 0)
    logs.push_back(std::log(point.value / (control == nullptr ? 1 : control->value)));
  return logs;
}

Change change_of(const Observation& old_observation, const Observation& new_observation, bool is_lower_better,
                 Kinship kinship, const Circumstances& circumstances) {
  const double growth = 1 + step_growth * circumstances.unrest * circumstances.unrest;
  const double step = growth * (circumstances.is_emulated ? step_emulated_ns : step_ns);
  Manner manner;
  manner.step = is_lower_better && old_observation.point->value > 0 ? step / old_observation.point->value : 0;
  manner.floor = floor_uncontrolled;
  manner.usual = circumstances.usual_plain;
  const Change plain = between(old_observation, new_observation, is_lower_better, manner);
  if (!has_same_rounds(old_observation) || !has_same_rounds(new_observation)) return plain;
  manner.is_controlled = true;
  if (kinship != Kinship::same_operation) {
    const Change controlled = between(old_observation, new_observation, is_lower_better, manner);
    return std::abs(controlled.log_ratio) < std::abs(plain.log_ratio) ? controlled : plain;
  }
  manner.floor = floor_same_operation;
  manner.usual = circumstances.usual_ratio;
  Change controlled = between(old_observation, new_observation, is_lower_better, manner);
  controlled.is_kindred = true;
  const bool is_small = is_lower_better && new_observation.point->value < largest_small_ns;
  if (circumstances.is_emulated && is_small && controlled.log_ratio > 0) {
    const double bound = std::max(plain.log_ratio + largest_drift, 0.0);
    controlled.log_ratio = std::min(controlled.log_ratio, bound);
  }
  return controlled;
}

double limit_of(const Change& change, double tail) {
  const double known = student_quantile(tail, certain);
  const auto reach = [&](const Doubt& doubt) { return student_quantile(tail, doubt.freedom) * doubt.own; };
  const double relative = std::hypot(known * std::hypot(change.old_doubt.floor, change.new_doubt.floor),
                                     reach(change.old_doubt), reach(change.new_doubt));
  return std::hypot(relative, std::log1p(known * std::hypot(change.old_doubt.step, change.new_doubt.step)));
}

Change pooled(const std::vector<Change>& changes) {
  Change all;
  all.old_doubt = changes.front().old_doubt;
  all.new_doubt.freedom = 0;
  std::vector<double> ratios;
  double own_squares = 0;
  double floor_squares = 0;
  double step_squares = 0;
  for (const Change& change : changes) {
    const Doubt& doubt = change.new_doubt;
    ratios.push_back(change.log_ratio);
    own_squares += doubt.own * doubt.own;
    floor_squares += doubt.floor * doubt.floor;
    step_squares += doubt.step * doubt.step;
    all.new_doubt.freedom += doubt.freedom;
    if (change.old_doubt.own > all.old_doubt.own) all.old_doubt = change.old_doubt;
    all.is_controlled = all.is_controlled || change.is_controlled;
    all.is_kindred = all.is_kindred || change.is_kindred;
  }
  const auto count = static_cast<double>(changes.size());
  all.log_ratio = median(ratios);
  // The median deviation: one outlier among several measurements neither moves the median nor increases the doubt.
  for (double& ratio : ratios) ratio = std::abs(ratio - all.log_ratio);
  const double seen = deviation_of_median * median(std::move(ratios));
  const double expected_squares = (own_squares + floor_squares + step_squares) / count;
  const double excess_squares = std::max(seen * seen - expected_squares, 0.0);
  all.new_doubt.own = std::sqrt(own_squares / count + excess_squares) / std::sqrt(count);
  all.new_doubt.floor = std::sqrt(floor_squares) / count;
  all.new_doubt.step = std::sqrt(step_squares) / count;
  return all;
}

Family::Family(const std::vector<Change>& changes)
    : points_(std::max<std::size_t>(changes.size(), 1)), excess_(excess_of(changes)) {}

double Family::chance(const Change& change) const {
  return excess_ * limit_of(change, false_alarm_rate / static_cast<double>(points_));
}

double Family::limit(const Change& change) const { return std::min(chance(change), std::log(largest_excused_factor)); }

bool Family::is_hidden(const Change& change) const { return chance(change) > std::log(largest_excused_factor); }

bool Family::is_suspicious(const Change& change) const {
  const double doubtful = std::min(excess_ * limit_of(change, suspicion_rate), limit(change));
  return change.log_ratio > std::max(smallest_change, doubtful);
}

}  // namespace gdrkit::measure
