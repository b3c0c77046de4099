// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/chart/line_chart.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>

namespace gdrkit::measure::report {
namespace {

/// Uses halves, because the difference of two finite values may not be finite.
double share_between(double value, double low, double high) {
  const double width = high / 2 - low / 2;
  return width > 0 ? (value / 2 - low / 2) / width : 0.5;
}

/// The position of a value between the ends of the range: 0 to 1.
double share_of(double value, const Range& range, bool is_log) {
  return is_log ? share_between(std::log10(value), std::log10(range.low), std::log10(range.high))
                : share_between(value, range.low, range.high);
}

std::vector<double> inside(std::vector<double> values, const Range& range, bool is_log) {
  std::vector<double> kept;
  // Rounding must not remove a tick at the very edge.
  const double slack = 1e-9;
  for (const double value : values) {
    if (!std::isfinite(value) || (is_log && value <= 0)) continue;
    const auto is_inside = [&](double share) { return share >= -slack && share <= 1 + slack; };
    // Tests both scales: logarithms separate values near the lower end of a wide range, differences those of a narrow
    // one.
    if (is_inside(share_of(value, range, false)) && is_inside(share_of(value, range, is_log))) kept.push_back(value);
  }
  return kept;
}

std::vector<double> linear_ticks(const Range& range, std::size_t most) {
  const double width = range.high / 2 - range.low / 2;
  const double rough = width / static_cast<double>(std::max<std::size_t>(most, 2)) * 2;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0}) {
    const double step = power * factor;
    const double first = std::ceil(range.low / step - 1e-9);
    const double last = std::floor(range.high / step + 1e-9);
    if (!std::isfinite(step) || step <= 0 || !(last - first + 1 <= static_cast<double>(most))) continue;
    std::vector<double> values;
    for (double more = 0; more <= last - first; ++more) values.push_back((first + more) * step + 0.0);
    return inside(values, range, false);
  }
  return {};
}

/// Every n-th power of the base inside the range. n is the smallest of `strides` (then its multiples) for which there
/// are few enough.
std::vector<double> power_ticks(const Range& range, double base, std::size_t most) {
  const double one = std::log10(base);
  const int first = static_cast<int>(std::floor(std::log10(range.low) / one)) - 1;
  const int last = static_cast<int>(std::ceil(std::log10(range.high) / one)) + 1;
  for (const int stride : {1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000}) {
    std::vector<double> values;
    for (int power = first; power <= last; ++power) {
      if (power % stride == 0) values.push_back(std::pow(base, power));
    }
    values = inside(values, range, true);
    if (values.size() <= most) return values;
  }
  return {};
}

std::vector<double> log_ticks(const Range& range, const Axis& axis, std::size_t most) {
  const bool is_binary = axis.quantity == Quantity::size;
  std::vector<double> values;
  if (!is_binary) {
    const int first = static_cast<int>(std::floor(std::log10(range.low)));
    const int last = static_cast<int>(std::ceil(std::log10(range.high)));
    if (last - first <= static_cast<int>(most)) {
      for (int power = first; power <= last; ++power) {
        for (const double factor : {1.0, 2.0, 5.0}) values.push_back(factor * std::pow(10, power));
      }
    }
    values = inside(values, range, true);
    if (values.size() > most || values.empty()) values = power_ticks(range, 10, most);
  } else {
    values = power_ticks(range, 2, most);
  }
  // Less than one step of powers: round numbers as on a linear axis.
  if (values.size() >= 2) return values;
  values = linear_ticks(range, most);
  std::erase_if(values, [](double value) { return value <= 0; });
  return values;
}

}  // namespace

Scale::Scale(Range range, bool is_log, double from, double to) : range_(range), is_log_(is_log), from_(from), to_(to) {}

double Scale::at(double value) const { return from_ + share_of(value, range_, is_log_) * (to_ - from_); }

Range with_room(Range data, bool is_log, double share) {
  if (is_log) {
    const double low = std::log10(data.low);
    const double high = std::log10(data.high);
    const double room = high > low ? (high - low) * share : 0.3;
    return {std::max(std::pow(10, low - room), DBL_MIN), std::min(std::pow(10, high + room), DBL_MAX)};
  }
  const double width = data.high / 2 - data.low / 2;
  double room = width > 0 ? width * 2 * share : std::max(std::abs(data.low) / 2, 0.5);
  if (!std::isfinite(room)) room = 0;
  return {std::max(data.low - room, -DBL_MAX), std::min(data.high + room, DBL_MAX)};
}

Range to_ticks(Range data, const Axis& axis) {
  Range range = with_room(data, axis.is_log, 0.02);
  const Range wide = axis.is_log ? Range{std::max(range.low / 10, DBL_MIN), std::min(range.high * 10, DBL_MAX)}
                                 : with_room(data, false, 1);
  constexpr std::size_t dense = 12;
  const std::vector<double> candidates = ticks(wide, axis, dense);
  const Range before = range;
  for (const double value : candidates) {
    // The closest one outside on each side; candidates ascend.
    if (value <= before.low) range.low = value;
    if (value >= before.high) {
      range.high = value;
      break;
    }
  }
  return range;
}

std::vector<double> ticks(const Range& range, const Axis& axis, std::size_t most) {
  std::vector<double> values = axis.is_log ? log_ticks(range, axis, most) : linear_ticks(range, most);
  if (axis.is_whole) std::erase_if(values, [](double value) { return value != std::floor(value); });
  return values;
}

}  // namespace gdrkit::measure::report
