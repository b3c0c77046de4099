// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "measure/compare/comparison.hpp"
#include "measure/compare/retrial.hpp"
#include "measure/compare/spread.hpp"

namespace gdrkit::measure {
namespace {

TEST(Student, QuantilesMatchTheTables) {
  EXPECT_NEAR(student_quantile(0.025, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_quantile(0.05, 2), 2.920, 1e-3);
  EXPECT_NEAR(student_quantile(0.005, 10), 3.169, 1e-3);
  EXPECT_NEAR(student_quantile(0.0005, 30), 3.646, 1e-3);
  EXPECT_NEAR(student_quantile(0.025, 1e7), 1.960, 1e-3);
  EXPECT_NEAR(student_quantile(1e-6, 4.5), 31.0814, 1e-3) << "not in a table: computed with mpmath";
}

TEST(Spread, EstimatesTheStandardDeviationDespiteOutliers) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(5, 0.2);
  std::vector<double> values;
  for (int value = 0; value < 4000; ++value) values.push_back(normal(random));
  EXPECT_NEAR(spread_of(values).deviation, 0.2, 0.01);
  for (std::size_t wild = 0; wild < values.size() / 5; ++wild) values[wild] = 50;
  EXPECT_LT(spread_of(values).deviation, 0.3);
  EXPECT_NEAR(spread_of({1, 2, 3}).deviation, 1, 1e-12);
  EXPECT_EQ(spread_of({1}).freedom, 0);
  EXPECT_EQ(spread_of(std::vector<double>(20, 4.0)).deviation, 0);
}

TEST(Spread, UsesTheUsualSpreadForFewRounds) {
  const Spread usual = usual_spread(std::vector<Spread>(9, {0.02, 50}));
  EXPECT_NEAR(usual.deviation, 0.02, 0.001);
  const Spread lucky = moderated({0.0001, 2}, usual);
  EXPECT_GT(lucky.deviation, 0.01);
  EXPECT_EQ(lucky.freedom, 2 + usual.freedom);
  EXPECT_NEAR(moderated({0.001, 50}, usual).deviation, 0.001, 0.004);
  EXPECT_EQ(usual_spread({{0.02, 50}}).freedom, 0) << "one point does not describe others";
}

TEST(CompareStatistics, NanosecondNoiseIsAdditive) {
  const auto limit = [](double ns) {
    const Point point = make_point(1, std::vector<double>(51, ns), 1);
    Circumstances circumstances;
    circumstances.is_emulated = true;
    return std::exp(
        limit_of(change_of({&point, &point}, {&point, &point}, true, Kinship::same_operation, circumstances), 3e-5));
  };
  // Four standard deviations of 4 ns on either side are 23 ns.
  EXPECT_NEAR(limit(10), 3.3, 0.1);
  EXPECT_NEAR(limit(100), 1.24, 0.02);
}

TEST(CompareStatistics, NoiseNeverHidesAFactorOfFour) {
  Change change;
  change.log_ratio = std::log(10);
  change.old_doubt.own = change.new_doubt.own = 3;
  const Family family({change});
  EXPECT_TRUE(family.is_hidden(change));
  EXPECT_NEAR(family.limit(change), std::log(4), 1e-12);
  EXPECT_TRUE(family.is_suspicious(change));
  change.log_ratio = std::log(3);
  EXPECT_FALSE(family.is_suspicious(change));
}

TEST(CompareStatistics, UnrestWidensOnlyTheLimitsOfShortTimes) {
  const auto limit = [](double ns, double unrest) {
    const Point point = make_point(1, std::vector<double>(51, ns), 1);
    const Observation observation{&point, &point};
    Circumstances circumstances;
    circumstances.unrest = unrest;
    circumstances.is_emulated = true;
    return Family(std::vector<Change>(100))
        .limit(change_of(observation, observation, true, Kinship::same_operation, circumstances));
  };
  EXPECT_LT(limit(1000, 0), std::log(1.08));
  EXPECT_LT(limit(1000, 0.1), 1.1 * limit(1000, 0));
  EXPECT_GT(limit(200, 0.8), 2 * limit(200, 0));
  EXPECT_LT(limit(10000, 1), 1.1 * limit(10000, 0));
}

TEST(Retrial, ConfirmsASlowdownInAllTrialsOrFourOfFive) {
  const auto at = [](double ns) { return make_point(1, std::vector<double>(51, ns), 1); };
  const Point same = at(1000);
  const Point slower = at(1100);
  Series series;
  ComparedPoint suspect;
  suspect.series = &series;
  suspect.kinship = Kinship::same_operation;
  suspect.old_observation = {&same, &same};
  const Comparison comparison;
  const auto after = [&](const std::vector<bool>& trials) {
    Retrial retrial(suspect, comparison);
    for (const bool is_slower : trials) retrial.add({is_slower ? &slower : &same, &same});
    return retrial;
  };
  for (const auto& trials : {std::vector<bool>{}, {true}, {true, true}, {false}, {false, true, true, true}}) {
    EXPECT_FALSE(after(trials).is_over()) << testing::PrintToString(trials);
  }
  EXPECT_TRUE(after({true, true, true}).is_over());
  for (const auto& trials :
       {std::vector<bool>{true, true, true}, {false, true, true, true, true}, {true, false, true, true, true}}) {
    EXPECT_TRUE(after(trials).is_confirmed()) << testing::PrintToString(trials);
  }
  for (const auto& trials : {std::vector<bool>{true, false, true},
                             {true, false, true, true},
                             {true, false, true, false, true},
                             {true, false, false, false, false}}) {
    EXPECT_FALSE(after(trials).is_confirmed()) << testing::PrintToString(trials);
  }
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

TEST(Comparison, MatchesByIdAndXAndReportsMissingPoints) {
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

TEST(Comparison, DoesNotCompareDifferentUnits) {
  const Result old_result = with_points("a", {1}, 100);
  Result new_result = old_result;
  new_result.series[0].unit = "us";
  EXPECT_TRUE(compare(old_result, new_result).points.empty());
}

TEST(Comparison, SupportsUnitsWhereHigherIsBetter) {
  Result old_result = with_points("a", {1}, 100);
  old_result.series[0].is_lower_better = false;
  Result new_result = with_points("a", {1}, 10);
  new_result.series[0].is_lower_better = false;
  EXPECT_TRUE(compare(old_result, new_result).points[0].is_slower());
  EXPECT_TRUE(compare(new_result, old_result).points[0].is_faster());
}

TEST(Comparison, BaselinesAreNotRegressions) {
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

TEST(Comparison, AControlOfAnotherOperationAddsNoPrecision) {
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

TEST(Comparison, ReportsUnmeasuredPointsWithoutAVerdict) {
  const std::vector<std::pair<std::vector<double>, const char*>> damaged = {
      {{}, "no rounds"},
      {{0, 0, 0}, "3 of 3 rounds not above 0"},
      {{100, -1, 100}, "1 of 3 rounds not above 0"},
      {{100, std::nan(""), 100}, "1 of 3 rounds not above 0"}};
  const Result sound = with_points("a", {1, 2}, 100);
  for (const auto& [rounds, why] : damaged) {
    Result broken = sound;
    broken.series[0].points[0].rounds = rounds;
    for (const bool is_old : {true, false}) {
      const Comparison comparison = is_old ? compare(broken, sound) : compare(sound, broken);
      EXPECT_EQ(comparison.points.size(), 1u) << why;
      ASSERT_EQ(comparison.unjudged.size(), 1u) << why;
      EXPECT_EQ(comparison.unjudged[0].name, "a at 1");
      EXPECT_EQ(comparison.unjudged[0].why, std::string(why) + (is_old ? " in the old result" : " in the new result"));
      EXPECT_EQ(comparison.undecided(), (std::vector<std::string>{"all points: 1 of 2 cannot be judged"}));
    }
  }
  EXPECT_TRUE(compare(sound, sound).undecided().empty());
}

TEST(Comparison, DamagedControlLeavesThePointUnjudged) {
  Result result = with_points("copy", {1}, 100);
  result.series[0].control = "raw";
  result.series.push_back(with_points("raw", {1}, 100).series[0]);
  result.series[1].method = "raw";
  Result broken = result;
  broken.series[1].points[0].rounds.assign(9, 0.0);
  const Comparison comparison = compare(result, broken);
  ASSERT_EQ(comparison.unjudged.size(), 1u);
  EXPECT_EQ(comparison.unjudged[0].why, "its control has 9 of 9 rounds not above 0 in the new result");
}

Judgement judged(const char* group, bool is_judged, bool is_damaged = false) { return {group, is_judged, is_damaged}; }

TEST(Decisive, HalfAGroupOrADamagedPointPreventsAVerdict) {
  const auto undecided = [](const std::vector<Judgement>& judgements) { return undecided_groups(judgements).size(); };
  EXPECT_EQ(undecided({judged("a", true), judged("a", true), judged("a", false)}), 0u);
  EXPECT_EQ(undecided({judged("a", true), judged("a", false)}), 1u);
  EXPECT_EQ(undecided({judged("a", true), judged("a", true), judged("a", true), judged("a", false, true)}), 1u);
  EXPECT_EQ(undecided({judged("a", true), judged("", false, true), judged("", false)}), 0u) << "does not matter";
  EXPECT_EQ(undecided({judged("", false), judged("", false), judged("", true)}), 1u) << "nothing else is available";
  EXPECT_EQ(undecided({}), 0u);
}

TEST(Decisive, GroupsAreSmallAndLargeCopiesThroughTheMapping) {
  Series series;
  series.operation = "copy";
  series.method = "mapping";
  series.direction = "from_device";
  series.x_name = "size_bytes";
  const auto group = [&](double x) { return decisive_group(series, make_point(x, {1.0}, 1)); };
  EXPECT_EQ(group(4096), "copies from the device up to 4 KiB");
  EXPECT_EQ(group(8192), "");
  EXPECT_EQ(group(1048576), "copies from the device from 1 MiB on");
  series.direction = "to_device";
  EXPECT_EQ(group(8), "copies to the device up to 4 KiB");
  series.conditions["gpu"] = "busy";
  EXPECT_EQ(group(8), "");
  series.conditions.clear();
  series.method = "raw";
  EXPECT_EQ(group(8), "");
}

TEST(Comparison, DistinguishesToolsAndMachines) {
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
