// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Csv: a result as comma-separated values, one line per point.
#pragma once

#include <string>

#include "measure/result/result.hpp"

namespace gdrkit::measure::bench {

[[nodiscard]] std::string to_csv_text(const Result& result);

}  // namespace gdrkit::measure::bench
