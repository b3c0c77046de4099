// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The JSON of results as values, for tools that add fields of their own. Slow to compile: for *_json.cpp files alone.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/result/result.hpp"

namespace gdrkit::bench {

using Json = nlohmann::ordered_json;

/// Everything but `ok`, which to_json_text() adds last.
[[nodiscard]] Json head_json(const Result& result);
[[nodiscard]] Json series_json(const std::vector<Series>& series);
/// One document; bytes that are no UTF-8 (a device's name) are replaced, which keeps it parseable.
[[nodiscard]] std::string text_of(const Json& document);

}  // namespace gdrkit::bench
