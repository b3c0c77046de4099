// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Renders a LineChart as an <svg> of fixed inner size, which the page scales.
#pragma once

#include <cstddef>
#include <string>

#include "measure/report/page.hpp"

namespace gdrkit::measure::report {

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
