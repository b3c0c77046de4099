// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The JSON of results as values, for tools that add their own fields. Slow to compile: include it only in files
// that write documents.
#pragma once

#include "cli/interface/json_document.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure {

using cli::Json;

/// Everything except `ok`, which to_json_text() adds last.
[[nodiscard]] Json head_json(const Result& result);
[[nodiscard]] Json series_json(const std::vector<Series>& series);

}  // namespace gdrkit::measure
