// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/chart/style.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "measure/report/markup.hpp"

namespace gdrkit::measure::report {
namespace {

struct Corner {
  double x;
  double y;
};

std::string polygon(double x, double y, const std::vector<Corner>& corners) {
  std::string path = "M";
  for (std::size_t at = 0; at < corners.size(); ++at) {
    path += (at == 0 ? "" : "L") + coordinate(x + corners[at].x) + " " + coordinate(y + corners[at].y);
  }
  return path + "Z";
}

std::string circle(double x, double y, double radius) {
  const std::string r = coordinate(radius);
  const std::string across = coordinate(2 * radius);
  return "M" + coordinate(x - radius) + " " + coordinate(y) + "a" + r + " " + r + " 0 1 0 " + across + " 0a" + r + " " +
         r + " 0 1 0 -" + across + " 0Z";
}

constexpr const char* methods_with_a_style[] = {
    "mapping",     "raw",        "memcpy_pageable", "memcpy_pinned", "memcpy_async_pageable", "memcpy_async_pinned",
    "copy_engine", "gpu_kernel",
};

}  // namespace

std::string marker_path(std::size_t style, double x, double y) {
  switch (style % style_count) {
    case 0: return circle(x, y, 3);
    case 1: return polygon(x, y, {{-2.7, -2.7}, {2.7, -2.7}, {2.7, 2.7}, {-2.7, 2.7}});
    case 2: return polygon(x, y, {{0, -3.8}, {3.4, 2.6}, {-3.4, 2.6}});
    case 3: return polygon(x, y, {{0, -4}, {4, 0}, {0, 4}, {-4, 0}});
    case 4: return polygon(x, y, {{0, 3.8}, {3.4, -2.6}, {-3.4, -2.6}});
    case 5:
      return polygon(x, y,
                     {{-3.4, -1},
                      {-1, -1},
                      {-1, -3.4},
                      {1, -3.4},
                      {1, -1},
                      {3.4, -1},
                      {3.4, 1},
                      {1, 1},
                      {1, 3.4},
                      {-1, 3.4},
                      {-1, 1},
                      {-3.4, 1}});
    case 6: return polygon(x, y, {{-4, -1.6}, {4, -1.6}, {4, 1.6}, {-4, 1.6}});
    default: return polygon(x, y, {{-1.6, -4}, {1.6, -4}, {1.6, 4}, {-1.6, 4}});
  }
}

std::string swatch(std::size_t style) {
  const std::string name = "k" + std::to_string(style % style_count);
  return "<svg class=\"swatch " + name + "\" viewBox=\"0 0 38 12\" width=\"38\" height=\"12\" aria-hidden=\"true\">" +
         "<path class=\"curve\" d=\"M1 6H37\"/><path class=\"mark\" d=\"" + marker_path(style, 19, 6) + "\"/></svg>";
}

std::size_t style_of_method(const std::string& method) {
  const auto* const found = std::ranges::find(methods_with_a_style, method);
  return static_cast<std::size_t>(found - std::begin(methods_with_a_style));
}

std::vector<std::size_t> styles_of(const std::vector<std::string>& methods) {
  std::array<bool, style_count> is_taken{};
  std::vector<std::size_t> styles(methods.size(), style_count);
  for (std::size_t at = 0; at < methods.size(); ++at) {
    const std::size_t own = style_of_method(methods[at]);
    if (own < style_count && !is_taken[own]) {
      styles[at] = own;
      is_taken[own] = true;
    }
  }
  for (std::size_t& style : styles) {
    if (style != style_count) continue;
    const auto free = static_cast<std::size_t>(std::ranges::find(is_taken, false) - is_taken.begin());
    style = std::min(free, style_count - 1);
    is_taken[style] = true;
  }
  return styles;
}

}  // namespace gdrkit::measure::report
