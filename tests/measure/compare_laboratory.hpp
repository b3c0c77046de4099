// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Laboratory: machines that generate measurements, to count false alarms and found slowdowns. Everything random depends
// only on the seed.
#pragma once

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "measure/compare/comparison.hpp"
#include "measure/compare/retrial.hpp"

namespace gdrkit::measure {

struct Slowdown {
  std::string series;
  double x = 0;
  double share = 0;  ///< 0.1: a tenth longer

  [[nodiscard]] double factor_at(const std::string& id, double at) const {
    return id == series && at == x ? 1 + share : 1;
  }
};

/// A point that is measured again: a single cell in a separate process.
struct Cell {
  std::string series;
  double x = 0;
};

class Laboratory {
 public:
  virtual ~Laboratory() = default;
  /// One run: all points, or those of `only` and its control.
  virtual Result measure(const Slowdown& slowdown, const std::optional<Cell>& only) = 0;

 protected:
  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(random_); }
  bool happens(double share) { return std::uniform_real_distribution<double>(0, 1)(random_) < share; }
  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }
  /// Student's t with 3 degrees of freedom: one value in a hundred exceeds 4.5 times `scale`.
  double heavy(double scale) { return scale * std::student_t_distribution<double>(3)(random_); }

 private:
  std::mt19937_64 random_{20261121};
};

/// Counts alarms for points without an injected slowdown, and whether the injected one is found.
struct Tally {
  int alarms = 0;  ///< comparisons that report a false regression
  int found = 0;   ///< comparisons that report the injected slowdown
  int trials = 0;  ///< points measured again
};

/// The steps of `gdrkit bench --compare` for a new run.
inline void compare_once(Laboratory& laboratory, const Result& base, const Slowdown& slowdown, Tally* tally) {
  const Result current = laboratory.measure(slowdown, std::nullopt);
  const Comparison comparison = compare(base, current);
  const auto again = [&](const ComparedPoint& suspect) {
    ++tally->trials;
    const double x = suspect.new_observation.point->x;
    const Result result = laboratory.measure(slowdown, Cell{suspect.series->id, x});
    const Series& series = *find_series(result, suspect.series->id);
    const Series* const control = find_series(result, series.control);
    return Again{std::make_unique<Point>(*find_point(series, x)),
                 control == nullptr ? nullptr : std::make_unique<Point>(*find_point(*control, x))};
  };
  const auto retried = retry_suspects(comparison, [&](const std::vector<const ComparedPoint*>& suspects) {
    std::vector<Again> all;
    for (const ComparedPoint* const suspect : suspects) all.push_back(again(*suspect));
    return all;
  });
  bool is_wrong = false;
  for (const RetriedPoint& point : retried) {
    if (point.outcome != Outcome::slower) continue;
    const bool is_injected = slowdown.factor_at(point.point.series->id, point.point.new_observation.point->x) > 1;
    tally->found += is_injected ? 1 : 0;
    is_wrong = is_wrong || !is_injected;
  }
  tally->alarms += is_wrong ? 1 : 0;
}

}  // namespace gdrkit::measure
