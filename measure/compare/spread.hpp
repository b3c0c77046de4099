// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Spread: the spread of a point's rounds, the uncertainty of that estimate, and the limits of chance that follow from
// it.
#pragma once

#include <cstddef>
#include <vector>

namespace gdrkit::measure {

struct Spread {
  double deviation = 0;  ///< standard deviation of one value
  double freedom = 0;    ///< degrees of freedom behind `deviation`; 0: unknown
};

/// With fewer values there is no reliable robust deviation: an outlier must then count as noise.
inline constexpr std::size_t enough_for_robust = 10;

/// With `enough_for_robust` values or more: the root of the biweight midvariance (Lax 1985). Up to half of the values
/// may be outliers, and it costs 30 % of the values; the median absolute deviation costs 63 %. With fewer: the standard
/// deviation.
[[nodiscard]] Spread spread_of(const std::vector<double>& values);

/// The typical deviation of `all`, for points of this kind. Freedom 0 if there are too few.
[[nodiscard]] Spread usual_spread(const std::vector<Spread>& all);

/// Combines `own` with the usual one (Smyth's moderated variance, 2004): three rounds that agree by chance get the
/// usual spread, fifty rounds their own.
[[nodiscard]] Spread moderated(const Spread& own, const Spread& usual);

/// Student's t that is exceeded with probability `tail` (0 < tail < 0.5), for any `freedom` > 0, including fractions.
[[nodiscard]] double student_quantile(double tail, double freedom);

}  // namespace gdrkit::measure
