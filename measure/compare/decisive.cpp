// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/decisive.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gdrkit::measure {
namespace {

constexpr double largest_latency_bytes = 4096;
constexpr double smallest_bandwidth_bytes = 1048576;
constexpr const char* everything = "all points";

std::string damage_of_one(const Point& point) {
  if (point.rounds.empty()) return "no rounds";
  const auto is_time = [](double value) { return std::isfinite(value) && value > 0; };
  const auto bad =
      std::count_if(point.rounds.begin(), point.rounds.end(), [&](double round) { return !is_time(round); });
  if (bad > 0) {
    return std::to_string(bad) + " of " + std::to_string(point.rounds.size()) + " rounds not above 0";
  }
  return is_time(point.value) ? "" : "a value not above 0";
}

struct Count {
  std::size_t points = 0;
  std::size_t unjudged = 0;
  std::size_t damaged = 0;
};

}  // namespace

std::string decisive_group(const Series& series, const Point& point) {
  const bool is_plain_copy = series.operation == "copy" && series.method == "mapping" && series.conditions.empty() &&
                             series.x_name == "size_bytes" && !point.y;
  if (!is_plain_copy) return "";
  const std::string direction = series.direction == "to_device" ? "to the device" : "from the device";
  if (point.x <= largest_latency_bytes) return "copies " + direction + " up to 4 KiB";
  return point.x >= smallest_bandwidth_bytes ? "copies " + direction + " from 1 MiB on" : "";
}

std::vector<std::string> undecided_groups(const std::vector<Judgement>& judgements) {
  const bool has_groups = std::any_of(judgements.begin(), judgements.end(),
                                      [](const Judgement& judgement) { return !judgement.group.empty(); });
  std::map<std::string, Count> counts;
  for (const Judgement& judgement : judgements) {
    if (has_groups && judgement.group.empty()) continue;
    Count& count = counts[has_groups ? judgement.group : everything];
    ++count.points;
    if (!judgement.is_judged) ++count.unjudged;
    if (judgement.is_damaged) ++count.damaged;
  }
  std::vector<std::string> undecided;
  for (const auto& [group, count] : counts) {
    if (count.damaged == 0 && 2 * count.unjudged < count.points) continue;
    undecided.push_back(group + ": " + std::to_string(count.unjudged) + " of " + std::to_string(count.points) +
                        " cannot be judged");
  }
  return undecided;
}

std::string damage_of(const Point& point, const Point* control) {
  const std::string own = damage_of_one(point);
  if (!own.empty() || control == nullptr) return own;
  const std::string others = damage_of_one(*control);
  return others.empty() ? "" : "its control has " + others;
}

}  // namespace gdrkit::measure
