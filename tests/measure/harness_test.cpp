// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "measure/harness/clock.hpp"
#include "measure/harness/samples.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure {
namespace {

std::vector<double> one_to(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Samples, MedianAndPercentilesAreValuesThatWereMeasured) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(percentile(one_to(1000), 99), 990);
  EXPECT_EQ(percentile(one_to(1000), 99.9), 999);
  EXPECT_EQ(percentile(one_to(100), 100), 100);
  EXPECT_EQ(percentile(one_to(10), 0), 1);
  EXPECT_EQ(percentile({5}, 99), 5);
  EXPECT_EQ(percentile({}, 50), 0);
}

TEST(Samples, APercentileIsReportedIfValuesExceedIt) {
  for (const int count : {1, 99, 100, 999, 1000}) {
    const std::vector<double> values = one_to(count);
    const std::size_t size = values.size();
    EXPECT_EQ(has_percentile(size, beyond_p99), percentile(values, 99) < values.back()) << count;
    EXPECT_EQ(has_percentile(size, beyond_p999), percentile(values, 99.9) < values.back()) << count;
  }
}

TEST(Samples, OneOutlierDoesNotChangeTheNoise) {
  std::vector<double> values = {10, 10.1, 9.9, 10, 10.1, 9.9, 10};
  const double quiet = noise_of_median(values);
  values.back() = 1000;
  EXPECT_GT(quiet, 0);
  EXPECT_LT(noise_of_median(values), 3 * quiet);
  EXPECT_EQ(noise_of_median({5}), 0);
}

class ClockOf : public ::testing::TestWithParam<Clock::Counter> {};

TEST_P(ClockOf, RunsAtTheRateOfTheMonotonicClock) {
  const Clock clock(GetParam());
  const std::int64_t before = platform::now_ns();
  const std::uint64_t begin = clock.now();
  const std::int64_t after = platform::now_ns();
  while (platform::now_ns() - after < 50'000'000) {
  }
  const std::int64_t before_end = platform::now_ns();
  const double elapsed = clock.ns(clock.now() - begin);
  const std::int64_t after_end = platform::now_ns();
  EXPECT_GT(elapsed, 0.98 * static_cast<double>(before_end - after));
  EXPECT_LT(elapsed, 1.02 * static_cast<double>(after_end - before));
}

TEST_P(ClockOf, ReportsTheCounterAndItsCost) {
  const Clock clock(GetParam());
  EXPECT_NE(std::string(clock.why()), "");
  EXPECT_GT(clock.ns_per_tick(), 0);
  EXPECT_EQ(std::string(clock.name()) == "clock_monotonic", clock.ns_per_tick() == 1);
  EXPECT_LT(clock.overhead_ns(), 1e6);
}

INSTANTIATE_TEST_SUITE_P(Clock, ClockOf, ::testing::Values(Clock::Counter::constant, Clock::Counter::any),
                         [](const auto& tested) { return tested.param == Clock::Counter::any ? "any" : "constant"; });

/// A clock that accepts any counter never costs more than one that requires a constant rate.
TEST(Clock, AnyCounterIsUsedOnlyIfItIsMuchCheaper) {
  const Clock constant;
  const Clock any(Clock::Counter::any);
  if (std::string(any.name()) == constant.name()) {
    EXPECT_EQ(std::string(any.why()), constant.why());
  } else {
    EXPECT_STREQ(any.name(), "tsc");
    EXPECT_LT(any.overhead_ns(), constant.overhead_ns());
  }
}

}  // namespace

}  // namespace gdrkit::measure
