// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/family.hpp"

#include <algorithm>

#include "measure/harness/samples.hpp"

namespace gdrkit::measure {
namespace {

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
