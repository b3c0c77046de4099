// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/numbers.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace gdrkit::measure::report {
namespace {

struct NamedUnit {
  const char* name;
  Unit unit;
};

constexpr double mib = 1048576;
constexpr NamedUnit named_units[] = {
    {"ns", {Quantity::time, 1}},
    {"us", {Quantity::time, 1e3}},
    {"ms", {Quantity::time, 1e6}},
    {"s", {Quantity::time, 1e9}},
    {"GB/s", {Quantity::bandwidth, 1}},
    {"MB/s", {Quantity::bandwidth, 1e-3}},
    {"GiB/s", {Quantity::bandwidth, mib * 1024 / 1e9}},
    {"MiB/s", {Quantity::bandwidth, mib / 1e9}},
};

/// A step of a ladder of units, largest last.
struct Step {
  double size;
  const char* name;
};

constexpr Step time_steps[] = {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}};
constexpr Step bandwidth_steps[] = {{1e-6, "kB/s"}, {1e-3, "MB/s"}, {1, "GB/s"}};
constexpr Step size_steps[] = {
    {1, "B"}, {1024, "KiB"}, {mib, "MiB"}, {mib * 1024, "GiB"}, {mib * mib, "TiB"}, {mib * mib * 1024, "PiB"}};

std::string printed(const char* pattern, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

/// Three significant digits, so that 999.7 ns changes to the next unit before it is printed.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double parsed = std::strtod(printed("%.2e", value).c_str(), nullptr);
  return std::isfinite(parsed) ? parsed : value;
}

template <std::size_t Count>
const Step& step_of(double value, const Step (&steps)[Count]) {
  std::size_t at = 0;
  while (at + 1 < Count && std::abs(value) >= steps[at + 1].size) ++at;
  return steps[at];
}

/// Whole bytes stay exact, in the largest unit in which they are whole; other values get three significant digits.
std::string size_text(double bytes) {
  constexpr double longest_exact = 1e7;
  const Step* exact = nullptr;
  for (const Step& step : size_steps) {
    const double scaled = bytes / step.size;
    const bool is_whole = scaled == std::floor(scaled) && std::abs(scaled) < longest_exact;
    if (is_whole && (exact == nullptr || scaled != 0)) exact = &step;
  }
  if (exact != nullptr) return printed("%.0f", bytes / exact->size) + " " + exact->name;
  const Step& step = step_of(bytes, size_steps);
  return three_digits(bytes / step.size) + " " + step.name;
}

std::string plain_text(double value) {
  constexpr double largest_exact = 1e9;
  const bool is_count = value == std::floor(value) && std::abs(value) < largest_exact;
  return is_count ? printed("%.0f", value) : three_digits(value);
}

}  // namespace

Unit unit_of(const std::string& name) {
  for (const NamedUnit& named : named_units) {
    if (name == named.name) return named.unit;
  }
  return {};
}

Quantity quantity_of_x(const std::string& name) { return name.ends_with("_bytes") ? Quantity::size : Quantity::plain; }

std::string three_digits(double value) {
  if (!std::isfinite(value)) return "no number";
  if (value == 0) return "0";
  const double near = rounded(value);
  const double magnitude = std::abs(near);
  constexpr double largest_plain = 1e6;
  constexpr double smallest_plain = 1e-3;
  if (magnitude >= largest_plain || magnitude < smallest_plain) return printed("%.3g", near);
  if (magnitude >= 100) return printed("%.0f", near);
  if (magnitude >= 10) return printed("%.1f", near);
  if (magnitude >= 1) return printed("%.2f", near);
  return printed(magnitude >= 0.1 ? "%.3f" : magnitude >= 0.01 ? "%.4f" : "%.5f", near);
}

std::string written(double value, Quantity quantity, const std::string& unit) {
  if (!std::isfinite(value)) return "no number";
  switch (quantity) {
    case Quantity::time: {
      const Step& step = step_of(rounded(value), time_steps);
      return three_digits(value / step.size) + " " + step.name;
    }
    case Quantity::bandwidth: {
      const Step& step = step_of(rounded(value), bandwidth_steps);
      return three_digits(value / step.size) + " " + step.name;
    }
    case Quantity::size: return size_text(value);
    case Quantity::ratio:
      return std::abs(value) >= 0.1 && std::abs(value) < 10 ? printed("%.3f", value) : three_digits(value);
    case Quantity::plain: break;
  }
  return plain_text(value) + (unit.empty() ? "" : " " + unit);
}

std::string written_short(double value, Quantity quantity) {
  if (quantity == Quantity::size) return size_text(value);
  if (quantity == Quantity::time || quantity == Quantity::bandwidth) {
    const Step& step =
        quantity == Quantity::time ? step_of(rounded(value), time_steps) : step_of(rounded(value), bandwidth_steps);
    return printed("%.3g", value / step.size) + " " + step.name;
  }
  const double magnitude = std::abs(value);
  if (magnitude >= 1e3 && magnitude < 1e5) return printed("%.0f", value);
  // Where %g would change to an exponent.
  return printed(magnitude >= 0.999e-5 && magnitude < 1e-4 ? "%.5f" : "%.3g", value);
}

std::string written_noise(double relative) {
  const double percent = std::abs(relative) * 100;
  if (!std::isfinite(percent) || percent > 999) return "±over 999 %";
  return std::string("±") + printed(percent < 9.95 ? "%.1f" : "%.0f", percent) + " %";
}

}  // namespace gdrkit::measure::report
