// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Clock: both choices of a counter run at the rate of CLOCK_MONOTONIC.
#include "measure/harness/clock.hpp"

#include <gtest/gtest.h>

#include <string>

#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure {
namespace {

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
                         [](const auto& info) { return info.param == Clock::Counter::any ? "any" : "constant"; });

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
