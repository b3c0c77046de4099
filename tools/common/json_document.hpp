// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// JsonDocument: the head that all tools' JSON has in common. Included by the *_json.cpp files alone (slow to compile).
#pragma once

#include <optional>
#include <string>

#include "bench/result/result_document.hpp"
#include "tools/common/bench_names.hpp"

namespace gdrkit::tools {

/// schema_version, tool, version, date, emulated, backend, machine, place: the head that docs/result-schema.md
/// describes.
[[nodiscard]] Json json_head(const char* tool, const Machine& machine, const std::string& backend, bool is_emulated,
                             const std::optional<Place>& place = std::nullopt);

/// One line ending after the last brace.
void print_json(const Json& document);

}  // namespace gdrkit::tools
