// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Style: how curves are told apart: colour, dash and shape of the marks together, so that any two of the three do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrkit::measure::report {

/// As many curves as one chart may hold.
inline constexpr std::size_t style_count = 8;

/// A path that draws the marks of the style around a point.
[[nodiscard]] std::string marker_path(std::size_t style, double x, double y);
/// A piece of the curve for a legend, as an <svg>.
[[nodiscard]] std::string swatch(std::size_t style);
/// The style that a method has on every chart, or style_count for one without.
[[nodiscard]] std::size_t style_of_method(const std::string& method);
/// One style for each method, none twice; needs at most style_count methods.
[[nodiscard]] std::vector<std::size_t> styles_of(const std::vector<std::string>& methods);

}  // namespace gdrkit::measure::report
