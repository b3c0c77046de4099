// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Scale: the position of a value between two pixels, and the values that an axis labels.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/report/page.hpp"

namespace gdrkit::measure::report {

/// Linear: supports every finite value. Logarithmic: every positive value.
class Scale {
 public:
  /// `low` is at `from`, `high` at `to`. Requires low < high, and 0 < low if logarithmic.
  Scale(Range range, bool is_log, double from, double to);

  [[nodiscard]] double at(double value) const;
  [[nodiscard]] const Range& range() const { return range_; }

 private:
  Range range_;
  bool is_log_;
  double from_;
  double to_;
};

/// A range with low < high that contains `data` and, if logarithmic, stays positive; a single value gets a margin
/// around it.
[[nodiscard]] Range with_room(Range data, bool is_log, double share);
/// Widens to the next values of ticks() outside, so that curves do not end at the edge.
[[nodiscard]] Range to_ticks(Range data, const Axis& axis);

/// Round values inside the range: 1, 2, 5 times powers of ten, or powers of two for sizes. At most `most` of them,
/// evenly spaced on the scale if there are more than the densest choice.
[[nodiscard]] std::vector<double> ticks(const Range& range, const Axis& axis, std::size_t most);

}  // namespace gdrkit::measure::report
