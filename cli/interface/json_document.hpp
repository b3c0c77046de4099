// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// JsonDocument: the head that all tools' JSON has in common. Included by the *_json.cpp files alone (slow to compile).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/interface/document_head.hpp"
#include "cli/interface/document_option.hpp"

namespace gdrkit::cli {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json head_json(const DocumentHead& head);
/// The same from its parts, dated today, by this version of gdrkit.
[[nodiscard]] Json json_head(const char* tool, const platform::Machine& machine, const std::string& backend,
                             bool is_emulated, const std::optional<platform::Place>& place = std::nullopt);

/// One document; bytes that are no UTF-8 (a device's name) are replaced, which keeps it parseable.
[[nodiscard]] std::string text_of(const Json& document);
void print_json(const Json& document);
/// To the file or standard output that the option names (document_option.hpp); nothing when it was not given.
void write_json(const DocumentOption& option, const Json& document);

}  // namespace gdrkit::cli
