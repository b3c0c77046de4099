// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Summary: the short tables at the end of a run.
#pragma once

#include <string>

#include "measure/result/result.hpp"

namespace gdrkit::measure::bench {

/// The place of the measurement, a table for each group of series, and the notes.
[[nodiscard]] std::string summary_text(const Result& result);
/// 139 ns -> "0.139"; three significant digits.
[[nodiscard]] std::string digits(double value);

}  // namespace gdrkit::measure::bench
