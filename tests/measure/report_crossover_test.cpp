// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The x from which a method is better, and when it is not reported.
#include <gtest/gtest.h>

#include <utility>

#include "measure/report/crossover.hpp"

namespace gdrkit::measure::report {
namespace {

using Values = std::vector<std::pair<double, double>>;

measure::Series series_of(const Values& values, double noise = 0.01, std::size_t rounds = 9) {
  measure::Series series;
  series.x_name = "size_bytes";
  series.unit = "ns";
  for (const auto& [x, value] : values) {
    measure::Point point;
    point.x = x;
    point.value = value;
    point.noise = noise;
    point.rounds.assign(rounds, value);
    series.points.push_back(point);
  }
  return series;
}

TEST(ReportCrossover, IsWhereTheLogarithmsAreEqual) {
  // On logarithmic axes one rises by 16 over x from 1 to 16, the other stays at 4: they are equal at 4.
  const Contest contest = compete(series_of({{1, 1}, {16, 16}}), series_of({{1, 4}, {16, 4}}));
  EXPECT_EQ(contest.points, 2u);
  ASSERT_EQ(contest.crossings.size(), 1u);
  EXPECT_NEAR(contest.crossings[0].x, 4, 1e-9);
  EXPECT_EQ(contest.crossings[0].below, 1);
  EXPECT_EQ(contest.crossings[0].above, 16);
  EXPECT_TRUE(contest.crossings[0].is_from_one);
}

TEST(ReportCrossover, OmitsPointsWithinTheNoise) {
  // At 2 and 4 the two are within each other's noise: the interval is 1 to 8.
  const Contest contest =
      compete(series_of({{1, 10}, {2, 19.9}, {4, 40.2}, {8, 80}}), series_of({{1, 20}, {2, 20}, {4, 40}, {8, 40}}));
  EXPECT_EQ(contest.one_better, 1u);
  EXPECT_EQ(contest.other_better, 1u);
  ASSERT_EQ(contest.crossings.size(), 1u);
  EXPECT_EQ(contest.crossings[0].below, 1);
  EXPECT_EQ(contest.crossings[0].above, 8);
  EXPECT_GT(contest.crossings[0].x, 2);
  EXPECT_LT(contest.crossings[0].x, 4);
}

TEST(ReportCrossover, IsNotReportedIfTheNoiseIsLarger) {
  const Values rising{{1, 9.8}, {2, 10.2}};
  const Values flat{{1, 10}, {2, 10}};
  EXPECT_TRUE(compete(series_of(rising, 0.05), series_of(flat, 0.05)).crossings.empty());
  EXPECT_EQ(compete(series_of(rising, 0.001), series_of(flat, 0.001)).crossings.size(), 1u);
}

TEST(ReportCrossover, RequiresRoundsAndPositiveValues) {
  const Values rising{{1, 1}, {16, 16}};
  const Values flat{{1, 4}, {16, 4}};
  EXPECT_EQ(compete(series_of(rising, 0, 2), series_of(flat, 0, 9)).points, 0u);
  EXPECT_EQ(compete(series_of({{0, 1}, {1, 0}, {2, -1}}), series_of({{0, 2}, {1, 2}, {2, 2}})).points, 0u);
  EXPECT_EQ(compete(series_of({}), series_of(flat)).points, 0u);
  EXPECT_EQ(compete(series_of({{3, 1}}), series_of(flat)).points, 0u) << "no x in common";
}

TEST(ReportCrossover, FindsEachCrossoverInAnyPointOrder) {
  const Contest contest = compete(series_of({{16, 1}, {4, 9}, {1, 1}}), series_of({{1, 3}, {4, 3}, {16, 3}}));
  ASSERT_EQ(contest.crossings.size(), 2u);
  EXPECT_TRUE(contest.crossings[0].is_from_one);
  EXPECT_FALSE(contest.crossings[1].is_from_one);
  EXPECT_LT(contest.crossings[0].x, contest.crossings[1].x);
}

TEST(ReportCrossover, ComparesDifferentUnitsAndTheirDirections) {
  measure::Series nanoseconds = series_of({{1, 2000}});
  measure::Series microseconds = series_of({{1, 1}});
  microseconds.unit = "us";
  EXPECT_EQ(compete(nanoseconds, microseconds).other_better, 1u);
  nanoseconds.is_lower_better = microseconds.is_lower_better = false;
  EXPECT_EQ(compete(nanoseconds, microseconds).one_better, 1u);
}

}  // namespace
}  // namespace gdrkit::measure::report
