// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Numbers: the format of all figures of a report. Three significant digits, except exact counts.
#pragma once

#include <string>

#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::measure::report {

using cli::counted;

/// The quantity of an axis or a series, which determines the format.
enum class Quantity {
  time,       ///< in nanoseconds, written in ns, µs, ms or s
  bandwidth,  ///< in GB/s (10^9)
  size,       ///< in bytes, written in powers of 1024
  ratio,
  plain,  ///< counts, indices, and values in a unit that is unknown here
};

/// A unit of the schema: the quantity, and the factor to that quantity's own unit.
struct Unit {
  Quantity quantity = Quantity::plain;
  double factor = 1;
};

[[nodiscard]] Unit unit_of(const std::string& name);
/// The quantity of an x with this name: sizes in bytes, or plain.
[[nodiscard]] Quantity quantity_of_x(const std::string& name);

/// "0.139", "42.2", "1040"; an exponent from 1e6 on and below 1e-3.
[[nodiscard]] std::string three_digits(double value);
/// A value with its unit: "139 ns", "1.04 ms", "26.1 GB/s", "64 KiB", "1.040"; a plain one is followed by `unit`.
[[nodiscard]] std::string written(double value, Quantity quantity, const std::string& unit = "");
/// The same in few characters, for an axis: "100 ns", "0.1", "4 KiB".
[[nodiscard]] std::string written_short(double value, Quantity quantity);
/// "±0.4 %" for a relative standard error.
[[nodiscard]] std::string written_noise(double relative);

}  // namespace gdrkit::measure::report
