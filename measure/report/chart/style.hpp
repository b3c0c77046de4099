// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Style: curves are distinguished by colour, dash and shape of the marks together, such that any two of the three
// suffice.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrkit::measure::report {

/// The maximum number of curves in a chart.
inline constexpr std::size_t style_count = 8;

/// A path that draws the marks of the style around a point.
[[nodiscard]] std::string marker_path(std::size_t style, double x, double y);
/// A piece of the curve for a legend, as an <svg>.
[[nodiscard]] std::string swatch(std::size_t style);
/// The style of a method on every chart, or style_count if it has none.
[[nodiscard]] std::size_t style_of_method(const std::string& method);
/// A style for each method, without duplicates; requires at most style_count methods.
[[nodiscard]] std::vector<std::size_t> styles_of(const std::vector<std::string>& methods);

}  // namespace gdrkit::measure::report
