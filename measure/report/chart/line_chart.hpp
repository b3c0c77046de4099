// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Renders a LineChart as an <svg> of fixed inner size, which the page scales.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/report/page.hpp"

namespace gdrkit::measure::report {

/// The position of a value between two pixels. Linear: supports every finite value. Logarithmic: every positive value.
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

struct Canvas {
  double width;
  double height;
};

inline constexpr Canvas wide_canvas{560, 270};
inline constexpr Canvas narrow_canvas{360, 300};

/// `id` must be unique in the page and safe as an attribute.
[[nodiscard]] std::string line_chart_svg(const LineChart& chart, const Canvas& canvas, const std::string& id);

/// Whether the axes can show it.
[[nodiscard]] bool is_drawable(const Mark& mark, const LineChart& chart);
[[nodiscard]] std::size_t count_drawable(const LineChart& chart);
/// The range of all drawable marks with their uncertainty; empty if there are none.
[[nodiscard]] std::optional<Range> x_range_of(const LineChart& chart);
[[nodiscard]] std::optional<Range> y_range_of(const LineChart& chart);
/// At most about `most` marks, including the first, last, lowest and highest ones; marks ascend in x.
[[nodiscard]] std::vector<Mark> thinned(const std::vector<Mark>& marks, std::size_t most);

}  // namespace gdrkit::measure::report
