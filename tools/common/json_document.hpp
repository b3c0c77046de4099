// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// JsonDocument: the head that all tools' JSON has in common. Included by the *_json.cpp files alone (slow to compile).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/common/machine.hpp"

namespace gdrkit::tools {

using Json = nlohmann::ordered_json;

/// Grows when a field changes its meaning or goes; new fields leave it alone.
inline constexpr int json_schema_version = 1;

/// schema_version, tool, version, emulated, backend, machine.
[[nodiscard]] Json json_head(const char* tool, const Machine& machine, const std::string& backend, bool is_emulated);

/// One line ending after the last brace.
void print_json(const Json& document);

}  // namespace gdrkit::tools
