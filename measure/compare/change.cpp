// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/change.hpp"

#include <algorithm>

#include "measure/compare/student.hpp"
#include "measure/harness/samples.hpp"

namespace gdrkit::measure {
namespace {

/// What two runs of one build differ by beyond the noise within each (where the buffers lie, what else runs), as a
/// standard deviation for one side. docs/design/0008 has the runs these come from.
constexpr double floor_same_operation = 0.008;
constexpr double floor_uncontrolled = 0.06;
/// The same in time: how a copy's instructions overlap with its neighbours' differs with what else the memory has to
/// do.
constexpr double floor_ns = 4;
/// Its growth with the square of the share of time that others took: nothing at 10 %, and threefold at 80 %.
constexpr double floor_growth = 4;
/// Raw loops of some lines have two modes that last a run (64 bytes in ordinary memory: 122 and 182 ns). Below this
/// time a control that got faster is believed only as far as a whole machine may have.
constexpr double largest_small_ns = 500;
constexpr double largest_drift = 0.1;
/// The median absolute deviation knows the spread as well as the standard deviation of so many fewer values would.
constexpr double efficiency_of_deviation = 0.37;
/// Fewer rounds than this have no median deviation to rely on: one wild round must then count as noise.
constexpr std::size_t enough_rounds = 10;
/// Of a single value.
constexpr double unknown_noise = 0.3;
constexpr double certain = 1e7;  // freedom of what is known

struct Side {
  double log_value = 0;
  Doubt doubt;
};

double floor_in_units(const Point& point, double relative, double absolute) {
  return point.value > 0 ? std::hypot(relative, absolute / point.value) : relative;
}

/// Standard error of the median of `logs`; as noise_of_median(), but of logarithms, whose median may be 0.
double standard_error(const std::vector<double>& logs, double middle) {
  const auto count = static_cast<double>(logs.size());
  constexpr double price_of_median = 1.2533;
  if (logs.size() < enough_rounds) {
    double squares = 0;
    for (const double value : logs) squares += (value - middle) * (value - middle);
    return price_of_median * std::sqrt(squares / (count - 1) / count);
  }
  std::vector<double> distances;
  distances.reserve(logs.size());
  for (const double value : logs) distances.push_back(std::abs(value - middle));
  return price_of_median * 1.4826 * median(std::move(distances)) / std::sqrt(count);
}

Side side_of(const std::vector<double>& logs, double floor) {
  Side side;
  side.log_value = median(logs);
  side.doubt.floor = floor;
  side.doubt.own = logs.size() < 2 ? unknown_noise : standard_error(logs, side.log_value);
  const double efficiency = logs.size() < enough_rounds ? 1 : efficiency_of_deviation;
  side.doubt.freedom = logs.size() < 2 ? 1 : efficiency * static_cast<double>(logs.size() - 1);
  return side;
}

std::vector<double> logs_of(const Point& point, const Point* control) {
  std::vector<double> logs;
  for (std::size_t round = 0; round < point.rounds.size(); ++round) {
    const double other = control == nullptr ? 1 : control->rounds[round];
    if (point.rounds[round] > 0 && other > 0) logs.push_back(std::log(point.rounds[round] / other));
  }
  if (logs.empty() && point.value > 0)
    logs.push_back(std::log(point.value / (control == nullptr ? 1 : control->value)));
  return logs;
}

bool has_same_rounds(const Look& look) {
  return look.control != nullptr && look.control->rounds.size() == look.point->rounds.size() &&
         !look.point->rounds.empty() && minimum(look.control->rounds) > 0;
}

Change between(const Side& old_side, const Side& new_side, bool is_lower_better) {
  Change change;
  change.log_ratio = (new_side.log_value - old_side.log_value) * (is_lower_better ? 1 : -1);
  change.old_doubt = old_side.doubt;
  change.new_doubt = new_side.doubt;
  return change;
}

}  // namespace

Change change_of(const Look& old_look, const Look& new_look, bool is_lower_better, Kinship kinship, double unrest) {
  const double growth = 1 + floor_growth * unrest * unrest;
  const auto side = [&](const Look& look, bool is_controlled, double floor) {
    return side_of(logs_of(*look.point, is_controlled ? look.control : nullptr),
                   floor_in_units(*look.point, floor, is_lower_better ? growth * floor_ns : 0));
  };
  const Change plain =
      between(side(old_look, false, floor_uncontrolled), side(new_look, false, floor_uncontrolled), is_lower_better);
  if (!has_same_rounds(old_look) || !has_same_rounds(new_look)) return plain;
  const double floor = kinship == Kinship::same_operation ? floor_same_operation : floor_uncontrolled;
  Change controlled = between(side(old_look, true, floor), side(new_look, true, floor), is_lower_better);
  controlled.is_controlled = true;
  if (kinship == Kinship::same_operation) {
    if (is_lower_better && new_look.point->value < largest_small_ns && controlled.log_ratio > 0) {
      const double believed = std::max(plain.log_ratio + largest_drift, 0.0);
      controlled.log_ratio = std::min(controlled.log_ratio, believed);
    }
    return controlled;
  }
  return std::abs(controlled.log_ratio) < std::abs(plain.log_ratio) ? controlled : plain;
}

double limit_of(const Change& change, double tail) {
  const double floors = std::hypot(change.old_doubt.floor, change.new_doubt.floor);
  const auto reach = [&](const Doubt& doubt) { return student_quantile(tail, doubt.freedom) * doubt.own; };
  return std::hypot(student_quantile(tail, certain) * floors, reach(change.old_doubt), reach(change.new_doubt));
}

Change pooled(const std::vector<Change>& changes) {
  Change all;
  all.old_doubt = changes.front().old_doubt;
  all.new_doubt.freedom = 0;
  std::vector<double> ratios;
  double own_squares = 0;
  double floor_squares = 0;
  for (const Change& change : changes) {
    ratios.push_back(change.log_ratio);
    own_squares += change.new_doubt.own * change.new_doubt.own;
    floor_squares += change.new_doubt.floor * change.new_doubt.floor;
    all.new_doubt.freedom += change.new_doubt.freedom;
    if (change.old_doubt.own > all.old_doubt.own) all.old_doubt = change.old_doubt;
    all.is_controlled = all.is_controlled || change.is_controlled;
  }
  const auto count = static_cast<double>(changes.size());
  all.log_ratio = median(std::move(ratios));
  all.new_doubt.own = std::sqrt(own_squares) / count;
  all.new_doubt.floor = std::sqrt(floor_squares) / count;
  return all;
}

}  // namespace gdrkit::measure
