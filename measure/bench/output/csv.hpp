// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Csv: a result as comma-separated values, a line a point, for spreadsheets.
#pragma once

#include <string>

#include "measure/common/measure_names.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::tools {

[[nodiscard]] std::string to_csv_text(const Result& result);

}  // namespace gdrkit::tools
