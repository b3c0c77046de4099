// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// JsonDocument: the head that all tools' JSON has in common. Included by the *_json.cpp files alone (slow to compile).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/common/document_head.hpp"
#include "cli/common/document_option.hpp"
#include "cli/common/platform_names.hpp"

namespace gdrkit::tools {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json head_json(const DocumentHead& head);
/// The same from its parts, dated today, by this version of gdrkit.
[[nodiscard]] Json json_head(const char* tool, const Machine& machine, const std::string& backend, bool is_emulated,
                             const std::optional<Place>& place = std::nullopt);

/// One document; bytes that are no UTF-8 (a device's name) are replaced, which keeps it parseable.
[[nodiscard]] std::string text_of(const Json& document);
void print_json(const Json& document);
/// To the file or standard output that the option names (document_option.hpp); nothing when it was not given.
void write_json(const DocumentOption& option, const Json& document);

}  // namespace gdrkit::tools
