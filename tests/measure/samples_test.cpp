// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/harness/samples.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

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
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(percentile(one_to(1000), 99), 990);
  EXPECT_EQ(percentile(one_to(1000), 99.9), 999);
  EXPECT_EQ(percentile(one_to(10), 0), 1);
  EXPECT_EQ(percentile({}, 50), 0);
}

TEST(Samples, APercentileIsReportedIfValuesExceedIt) {
  for (const int count : {1, 99, 100, 999, 1000}) {
    const std::vector<double> values = one_to(count);
    const std::size_t size = values.size();
    EXPECT_EQ(tells_percentile(size, beyond_p99), percentile(values, 99) < values.back()) << count;
    EXPECT_EQ(tells_percentile(size, beyond_p999), percentile(values, 99.9) < values.back()) << count;
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

}  // namespace
}  // namespace gdrkit::measure
