// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Spread: how far the rounds of a point lie apart, and how well that is known.
#pragma once

#include <cstddef>
#include <vector>

namespace gdrkit::measure {

struct Spread {
  double deviation = 0;  ///< standard deviation of one value
  double freedom = 0;    ///< degrees of freedom behind `deviation`; 0: unknown
};

/// Fewer values than this have no robust deviation to rely on: one wild value must then count as noise.
inline constexpr std::size_t enough_for_robust = 10;

/// From `enough_for_robust` values on the root of the biweight midvariance (Lax 1985): up to half of the values may be
/// wild, and it costs 30 % of the values, where the median absolute deviation costs 63 %. Below: the standard
/// deviation.
[[nodiscard]] Spread spread_of(const std::vector<double>& values);

/// What a point of this kind usually has: the typical deviation of `all`. Freedom 0 when there are too few to tell.
[[nodiscard]] Spread usual_spread(const std::vector<Spread>& all);

/// `own` beside what is usual (Smyth's moderated variance, 2004): three rounds that agree by luck get the usual spread,
/// fifty rounds their own.
[[nodiscard]] Spread moderated(const Spread& own, const Spread& usual);

}  // namespace gdrkit::measure
