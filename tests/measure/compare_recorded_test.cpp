// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Comparison of recorded rounds: "gdrkit bench" measured recorded_bench.json on an H200.
#include <gtest/gtest.h>

#include <algorithm>

#include "measure/compare_laboratory.hpp"
#include "measure/result/result_file.hpp"

namespace gdrkit::measure {
namespace {

const Result& recorded() {
  static const Result result = read_result(GDRKIT_RECORDED_BENCH);
  return result;
}

/// Rounds `begin` to `end` of every point, in thousandths.
Result part_of(Result result, std::size_t begin, std::size_t end) {
  for (Series& series : result.series) {
    for (Point& point : series.points) {
      const auto at = [&](std::size_t share) {
        return static_cast<std::ptrdiff_t>(point.rounds.size() * share / 1000);
      };
      const std::vector<double> rounds(point.rounds.begin() + at(begin), point.rounds.begin() + at(end));
      const Point part = make_point(point.x, rounds, point.operations_per_round);
      point.rounds = part.rounds;
      point.value = part.value;
    }
  }
  return result;
}

/// Runs that draw their rounds, in blocks of neighbours and together with the control's, from the recorded ones. One
/// recording does not contain the further difference between two runs: fresh buffers for each third of the rounds,
/// heavy-tailed.
struct RecordedMachine : Laboratory {
  static constexpr std::size_t block = 5;
  double placement_scale = 0.0035;
  double machine_noise = 0.05;

  Result measure(const Slowdown& slowdown, const std::optional<Cell>& only) override {
    Result result = recorded();
    result.series.clear();
    const double machine = normal(machine_noise);
    for (const Series& series : recorded().series) {
      const Series* const control = find_series(recorded(), series.control);
      const bool is_selected = series.operation == "copy" && !is_baseline(series) && control != nullptr;
      if (!is_selected || (only && only->series != series.id)) continue;
      Series copy = series;
      Series raw = *control;
      copy.points.clear();
      raw.points.clear();
      for (const Point& point : series.points) {
        if (only && only->x != point.x) continue;
        const double factor = slowdown.factor_at(series.id, point.x);
        draw(point, *find_point(*control, point.x), machine, series.is_lower_better ? factor : 1 / factor,
             only.has_value(), &copy, &raw);
      }
      result.series.push_back(std::move(copy));
      result.series.push_back(std::move(raw));
    }
    return result;
  }

 private:
  void draw(const Point& point, const Point& control, double machine, double factor, bool is_trial, Series* copy,
            Series* raw) {
    const std::size_t count = point.rounds.size();
    const std::size_t rounds_per_placement = is_trial ? 2 * count : std::max<std::size_t>(count / 3, 1);
    std::vector<double> copies;
    std::vector<double> raws;
    double place = 1;
    std::size_t from = 0;
    for (std::size_t round = 0; round < (is_trial ? 2 * count : count); ++round) {
      if (round % rounds_per_placement == 0) place = std::exp(heavy(placement_scale));
      if (round % block == 0) from = below(count);
      const std::size_t at = (from + round % block) % count;
      copies.push_back(point.rounds[at] * factor * place * std::exp(machine));
      raws.push_back(control.rounds[at] * std::exp(machine));
    }
    copy->points.push_back(make_point(point.x, copies, 1));
    raw->points.push_back(make_point(point.x, raws, 1));
  }
};

TEST(CompareRecorded, FindsNoRegressionBetweenHalvesOfOneRun) {
  // The second half of a run is equivalent to the first: no model of noise, only measurements.
  const Result one = part_of(recorded(), 0, 500);
  const Result other = part_of(recorded(), 500, 1000);
  for (const Comparison& comparison : {compare(one, other), compare(other, one)}) {
    for (const ComparedPoint& point : comparison.points) EXPECT_FALSE(point.is_slower()) << point.name();
    EXPECT_TRUE(comparison.undecided().empty());
  }
}

TEST(CompareRecorded, FindsNoRegressionBetweenRunsOfOneBuild) {
  RecordedMachine machine;
  Tally tally;
  for (int run = 0; run < 30; ++run) compare_once(machine, machine.measure({}, std::nullopt), {}, &tally);
  EXPECT_EQ(tally.alarms, 0);
  EXPECT_LT(tally.trials, 30 * 15);
}

TEST(CompareRecorded, DetectsInjectedSlowdownsOfTenPercent) {
  RecordedMachine machine;
  const Result base = machine.measure({}, std::nullopt);
  Tally tally;
  int runs = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    for (const auto& [direction, size] : std::vector<std::pair<const char*, double>>{{"to_device", 4096},
                                                                                     {"to_device", 32768},
                                                                                     {"from_device", 32768},
                                                                                     {"from_device", 262144},
                                                                                     {"to_device", 2097152}}) {
      const Slowdown slowdown{std::string("copies/") + direction + "/mapping", size, 0.1};
      compare_once(machine, base, slowdown, &tally);
      ++runs;
    }
  }
  EXPECT_GE(tally.found, runs - 1);
  EXPECT_EQ(tally.alarms, 0);
}

}  // namespace
}  // namespace gdrkit::measure
