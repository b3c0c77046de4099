// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Student's distribution: how far chance goes when the noise itself is known from few values only.
#pragma once

namespace gdrkit::measure {

/// Probability of more than `t` (t >= 0), for any `freedom` > 0, also a broken one.
[[nodiscard]] double student_tail(double t, double freedom);
/// The t that is exceeded with probability `tail` (0 < tail < 0.5). At most 1e6.
[[nodiscard]] double student_quantile(double tail, double freedom);

}  // namespace gdrkit::measure
