// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Student's distribution: limits of chance if the noise itself is estimated from few values.
#pragma once

namespace gdrkit::measure {

/// Probability of exceeding `t` (t >= 0), for any `freedom` > 0, including fractions.
[[nodiscard]] double student_tail(double t, double freedom);
/// The t that is exceeded with probability `tail` (0 < tail < 0.5). At most 1e6.
[[nodiscard]] double student_quantile(double tail, double freedom);

}  // namespace gdrkit::measure
