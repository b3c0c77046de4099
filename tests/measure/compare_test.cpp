// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "measure/compare/comparison.hpp"
#include "measure/compare/retrial.hpp"
#include "measure/compare/student.hpp"

namespace gdrkit::measure {
namespace {

TEST(Student, TailsAreThoseOfTheTables) {
  EXPECT_NEAR(student_quantile(0.025, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_quantile(0.05, 2), 2.920, 1e-3);
  EXPECT_NEAR(student_quantile(0.005, 10), 3.169, 1e-3);
  EXPECT_NEAR(student_quantile(0.0005, 30), 3.646, 1e-3);
  EXPECT_NEAR(student_quantile(0.025, 1e7), 1.960, 1e-3);
  EXPECT_NEAR(student_tail(0, 3), 0.5, 1e-9);
  EXPECT_NEAR(student_tail(student_quantile(1e-6, 4.5), 4.5), 1e-6, 1e-9);
}

TEST(Student, FewValuesAndManyComparisonsMakeDoubt) {
  EXPECT_GT(student_quantile(1e-4, 2), 3 * student_quantile(1e-4, 20));
  EXPECT_GT(student_quantile(1e-5, 20), student_quantile(1e-3, 20));
}

/// A machine that makes up measurements: `sizes` copies with their raw loops. What is random comes from the seed alone.
struct Laboratory {
  std::mt19937_64 random{20261121};
  int sizes = 29;
  int rounds = 51;
  double round_noise = 0.02;       ///< of one round's batch
  double machine_noise = 0.05;     ///< of a run, the same for all
  double shared_noise = 0.05;      ///< of a round, the same for the copy and its raw loop
  double disturbed_share = 0.15;   ///< of batches that lose a time slice
  double placement_noise = 0.004;  ///< of a point in one run, the raw loop's not included
  double base_ns = 1000;           ///< of the smallest size
  bool has_control = true;

  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(random); }
  bool happens(double share) { return std::uniform_real_distribution<double>(0, 1)(random) < share; }

  /// All points, or the one at `only_x`.
  Result measure(double slow_x, double slowdown, double only_x = -1) {
    Result result;
    result.tool = "bench";
    Series copy;
    copy.id = "copies/to_device/mapping";
    copy.operation = "copy";
    copy.method = "mapping";
    copy.unit = "ns";
    copy.control = has_control ? "copies/to_device/raw" : "";
    Series raw = copy;
    raw.id = "copies/to_device/raw";
    raw.method = "raw";
    raw.control = "";
    const double machine = normal(machine_noise);
    for (int size = 0; size < sizes; ++size) {
      const auto x = static_cast<double>(size);
      if (only_x >= 0 && x != only_x) continue;
      const double base = base_ns * std::exp2(size / 2.0);
      const double place = normal(placement_noise);
      std::vector<double> copy_rounds;
      std::vector<double> raw_rounds;
      for (int round = 0; round < rounds; ++round) {
        const double shared = normal(shared_noise) + machine;
        const double slower = x == slow_x ? std::log(1 + slowdown) : 0;
        copy_rounds.push_back(base * std::exp(shared + place + slower + normal(round_noise)) *
                              (happens(disturbed_share) ? 3 : 1));
        raw_rounds.push_back(0.98 * base * std::exp(shared + normal(round_noise)) * (happens(disturbed_share) ? 3 : 1));
      }
      copy.points.push_back(make_point(x, copy_rounds, 1000));
      raw.points.push_back(make_point(x, raw_rounds, 1000));
    }
    result.series = {copy};
    if (has_control) result.series.push_back(raw);
    return result;
  }

  /// What `gdrkit bench --compare` does: first look, then trials. The x of confirmed points.
  std::vector<double> verdict(const Result& base, double slow_x, double slowdown, int* retrials) {
    const Result current = measure(slow_x, slowdown);
    const Comparison comparison = compare(base, current);
    std::vector<double> confirmed;
    for (const ComparedPoint& point : comparison.points) {
      if (!point.is_suspicious()) continue;
      Retrial retrial(point, comparison.points.size());
      while (!retrial.is_over()) {
        ++*retrials;
        const double x = point.new_look.point->x;
        const Result again = measure(slow_x, slowdown, x);
        retrial.add({find_point(again.series[0], x), has_control ? find_point(again.series[1], x) : nullptr});
      }
      if (retrial.is_confirmed()) confirmed.push_back(point.new_look.point->x);
    }
    return confirmed;
  }
};

struct Tally {
  int alarms = 0;  ///< runs with a regression where there is none
  int caught = 0;  ///< runs that name the injected slowdown
  int retrials = 0;
};

Tally run_many(Laboratory laboratory, int runs, double slowdown) {
  Tally tally;
  for (int run = 0; run < runs; ++run) {
    const Result base = laboratory.measure(-1, 0);
    const double slow_x = slowdown > 0 ? run % laboratory.sizes : -1;
    bool is_wrong = false;
    for (const double x : laboratory.verdict(base, slow_x, slowdown, &tally.retrials)) {
      if (x == slow_x) {
        ++tally.caught;
      } else {
        is_wrong = true;
      }
    }
    tally.alarms += is_wrong ? 1 : 0;
  }
  return tally;
}

TEST(CompareStatistics, RepeatedRunsOfOneBuildRaiseNoAlarm) {
  const Tally tally = run_many(Laboratory(), 2000, 0);
  // At the rate that is allowed 10 are expected; trials on fresh buffers leave fewer.
  EXPECT_LE(tally.alarms, 10);
  // Looking again must stay rare, or a comparison takes as long as several runs.
  EXPECT_LT(tally.retrials, 2000 * 5);
  RecordProperty("alarms", tally.alarms);
  RecordProperty("retrials", tally.retrials);
}

TEST(CompareStatistics, TenPercentAtOneSizeAreCaughtAndNothingElse) {
  const Tally tally = run_many(Laboratory(), 1000, 0.10);
  EXPECT_GE(tally.caught, 990);
  EXPECT_LE(tally.alarms, 5);
  RecordProperty("caught", tally.caught);
}

TEST(CompareStatistics, AMachineThatSlowsDownAltogetherIsNoRegression) {
  Laboratory laboratory;
  laboratory.machine_noise = 0.3;
  EXPECT_LE(run_many(laboratory, 500, 0).alarms, 3);
  EXPECT_GE(run_many(laboratory, 200, 0.10).caught, 196);
}

TEST(CompareStatistics, WithoutAControlOnlyLargeChangesCount) {
  Laboratory laboratory;
  laboratory.has_control = false;
  EXPECT_LE(run_many(laboratory, 500, 0).alarms, 3);
  EXPECT_LE(run_many(laboratory, 200, 0.10).caught, 10);
  EXPECT_GE(run_many(laboratory, 200, 1.0).caught, 190);
}

TEST(CompareStatistics, ThreeRoundsAreHardlyEverEnough) {
  Laboratory laboratory;
  laboratory.rounds = 3;
  EXPECT_LE(run_many(laboratory, 1000, 0).alarms, 5);
}

TEST(CompareStatistics, HeavyDisturbanceCostsPowerNotTruth) {
  Laboratory laboratory;
  laboratory.disturbed_share = 0.4;
  laboratory.round_noise = 0.1;
  // About the rate that is allowed, which would be 3: almost half of the ratios are of a disturbed batch.
  EXPECT_LE(run_many(laboratory, 500, 0).alarms, 8);
}

TEST(CompareStatistics, NanosecondsAreNobodysConcern) {
  Laboratory laboratory;
  laboratory.base_ns = 10;
  laboratory.sizes = 1;
  EXPECT_EQ(run_many(laboratory, 200, 0.5).caught, 0);
  laboratory.base_ns = 10000;
  EXPECT_GE(run_many(laboratory, 200, 0.1).caught, 196);
}

TEST(CompareStatistics, UnrestLosesSmallTimesOnly) {
  const auto limit = [](double ns, double unrest) {
    const Point point = make_point(1, std::vector<double>(51, ns), 1);
    const Look look{&point, &point};
    return limit_among(change_of(look, look, true, Kinship::same_operation, unrest), 100);
  };
  EXPECT_LT(limit(1000, 0), std::log(1.08));
  EXPECT_LT(limit(1000, 0.1), 1.1 * limit(1000, 0));
  EXPECT_GT(limit(200, 0.8), 2.5 * limit(200, 0));
  EXPECT_LT(limit(10000, 1), 1.1 * limit(10000, 0));
}

Result with_points(const std::string& id, std::vector<double> sizes, double value) {
  Result result;
  result.tool = "bench";
  Series series;
  series.id = id;
  series.method = "mapping";
  series.unit = "ns";
  for (const double size : sizes) series.points.push_back(make_point(size, std::vector<double>(9, value), 1));
  result.series = {series};
  return result;
}

TEST(Comparison, MatchesByIdAndXAndTellsWhatIsGone) {
  const Result old_result = with_points("a", {1, 2, 4}, 100);
  Result new_result = with_points("a", {2, 4, 8}, 100);
  const Comparison comparison = compare(old_result, new_result);
  ASSERT_EQ(comparison.points.size(), 2u);
  EXPECT_EQ(comparison.points[0].name(), "a at 2");
  EXPECT_EQ(comparison.vanished, (std::vector<std::string>{"a at 1"}));
  new_result.series[0].id = "b";
  EXPECT_TRUE(compare(old_result, new_result).points.empty());
  EXPECT_EQ(compare(old_result, new_result).vanished.size(), 3u);
}

TEST(Comparison, AnotherUnitIsAnotherSeries) {
  const Result old_result = with_points("a", {1}, 100);
  Result new_result = old_result;
  new_result.series[0].unit = "us";
  EXPECT_TRUE(compare(old_result, new_result).points.empty());
}

TEST(Comparison, HigherMayBeBetter) {
  Result old_result = with_points("a", {1}, 100);
  old_result.series[0].is_lower_better = false;
  Result new_result = with_points("a", {1}, 10);
  new_result.series[0].is_lower_better = false;
  EXPECT_TRUE(compare(old_result, new_result).points[0].is_slower());
  EXPECT_TRUE(compare(new_result, old_result).points[0].is_faster());
}

TEST(Comparison, BaselinesAreNoRegressions) {
  for (const char* method : {"raw", "memcpy_pinned", "memcpy_async_pageable", "copy_engine"}) {
    Result old_result = with_points("a", {1}, 100);
    old_result.series[0].method = method;
    Result new_result = with_points("a", {1}, 1000);
    new_result.series[0].method = method;
    const Comparison comparison = compare(old_result, new_result);
    EXPECT_TRUE(comparison.points.empty()) << method;
    ASSERT_EQ(comparison.baselines.size(), 1u) << method;
    EXPECT_TRUE(comparison.baselines[0].is_slower()) << method;
  }
}

TEST(Comparison, AControlThatDoesSomethingElseGivesNoPrecision) {
  const auto made = [](double raw_value, double copy_value) {
    Result result = with_points("copy", {1}, copy_value);
    result.series[0].control = "raw";
    Result raw = with_points("raw", {1}, raw_value);
    raw.series[0].method = "raw";
    result.series.push_back(raw.series[0]);
    return result;
  };
  EXPECT_EQ(compare(made(100, 100), made(100, 100)).points[0].kinship, Kinship::same_operation);
  EXPECT_EQ(compare(made(100, 20), made(100, 20)).points[0].kinship, Kinship::same_time);
  EXPECT_EQ(compare(made(20, 100), made(20, 100)).points[0].kinship, Kinship::same_time);
}

TEST(Comparison, ZerosAndMissingRoundsDoNotBreakIt) {
  Result old_result = with_points("a", {1}, 100);
  old_result.series[0].points[0].rounds.clear();
  Result new_result = with_points("a", {1}, 0);
  for (const auto* result : {&old_result, &new_result}) {
    const Comparison comparison = compare(*result, new_result);
    ASSERT_EQ(comparison.points.size(), 1u);
    EXPECT_TRUE(std::isfinite(comparison.points[0].change.log_ratio));
    EXPECT_FALSE(comparison.points[0].is_slower());
  }
}

TEST(Comparison, OtherToolsAndOtherMachinesAreToldApart) {
  Result mine = with_points("a", {1}, 100);
  Result other = mine;
  other.tool = "pplat";
  EXPECT_EQ(why_no_comparison(mine, mine, "x"), "");
  EXPECT_NE(why_no_comparison(other, mine, "x.json").find("x.json is a result of 'gdrkit pplat'"), std::string::npos);
  other = mine;
  other.machine.gpu_name = "another";
  other.backend = "rm";
  EXPECT_TRUE(machine_differences(mine, mine).empty());
  EXPECT_EQ(machine_differences(other, mine).size(), 2u);
  other = mine;
  other.settings["store_kernel"] = "avx2";
  EXPECT_TRUE(machine_differences(other, mine).empty());
  EXPECT_EQ(setting_differences(other, mine).size(), 1u);
}

}  // namespace
}  // namespace gdrkit::measure
