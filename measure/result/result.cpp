// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result.hpp"

#include <algorithm>
#include <utility>

#include "measure/harness/samples.hpp"

namespace gdrkit::measure {

ClockDescription describe(const Clock& clock) {
  return {clock.name(), clock.why(), clock.ns_per_tick(), clock.overhead_ns()};
}

Point make_point(double x, std::vector<double> rounds, std::size_t operations_per_round) {
  Point point;
  point.x = x;
  point.value = median(rounds);
  point.noise = noise_of_median(rounds);
  point.minimum = measure::minimum(rounds);
  point.operations_per_round = operations_per_round;
  point.rounds = std::move(rounds);
  return point;
}

Single single_of(const std::vector<double>& values) {
  return {values.size(),          minimum(values),          percentile(values, 50),
          percentile(values, 99), percentile(values, 99.9), percentile(values, 100)};
}

Point make_point(double x, const Measured& measured, double unit_ns) {
  std::vector<double> rounds = measured.round_ns;
  for (double& value : rounds) value /= unit_ns;
  Point point = make_point(x, std::move(rounds), measured.operations_per_round);
  if (measured.single_ns.empty()) return point;
  std::vector<double> singles = measured.single_ns;
  for (double& value : singles) value /= unit_ns;
  point.single = single_of(singles);
  return point;
}

Point merged(const Point& first, const Point& second) {
  std::vector<double> rounds = first.rounds;
  rounds.insert(rounds.end(), second.rounds.begin(), second.rounds.end());
  Point point = make_point(first.x, std::move(rounds), first.operations_per_round);
  point.y = first.y;
  point.single = first.single;
  return point;
}

const Series* find_series(const Result& result, const std::string& id) {
  const auto found = std::ranges::find_if(result.series, [&](const Series& series) { return series.id == id; });
  return found == result.series.end() ? nullptr : &*found;
}

const Point* find_point(const Series& series, double x, std::optional<double> y) {
  const auto found =
      std::ranges::find_if(series.points, [&](const Point& point) { return point.x == x && point.y == y; });
  return found == series.points.end() ? nullptr : &*found;
}

}  // namespace gdrkit::measure
