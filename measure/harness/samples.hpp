// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Samples: medians, percentiles and the noise of measured values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gdrkit::measure {

/// Middle value; for an even count the mean of the two middle ones. 0 if empty.
[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Smallest value such that at least `percent` of all values are not larger (nearest rank). 0 if empty.
[[nodiscard]] inline double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  // 99.9 is not exact in binary: without subtracting this, 99.9 % of 1000 would be rank 1000.
  constexpr double rounding = 1e-9;
  const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(values.size()) - rounding));
  return values[std::min(values.size(), std::max<std::size_t>(rank, 1)) - 1];
}

/// Whether `count` values are enough for a percentile that leaves out `beyond_permille` of a thousand. With fewer
/// values it is just their maximum.
[[nodiscard]] constexpr bool has_percentile(std::size_t count, std::size_t beyond_permille) {
  return count * beyond_permille >= 1000;
}
inline constexpr std::size_t beyond_p99 = 10;
inline constexpr std::size_t beyond_p999 = 1;

[[nodiscard]] inline double minimum(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

/// Relative standard error of the median, from the median absolute deviation, which one outlier does not move. 1.4826
/// makes the deviation a standard deviation for a normal distribution; 1.2533 (the root of pi/2) is the cost of the
/// median compared with the mean. 0 for fewer than two values.
[[nodiscard]] inline double noise_of_median(const std::vector<double>& values) {
  const double middle = median(values);
  if (values.size() < 2 || middle == 0) return 0;
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return 1.4826 * 1.2533 * median(std::move(distances)) / std::sqrt(static_cast<double>(values.size())) /
         std::abs(middle);
}

}  // namespace gdrkit::measure
