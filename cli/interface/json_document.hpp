// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// JsonDocument: the head that all tools' JSON has in common. Only the *_json.cpp files include it (slow to compile).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/interface/document_head.hpp"
#include "cli/interface/document_option.hpp"

namespace gdrkit::cli {

using Json = nlohmann::ordered_json;

/// Returns a list of the results of `json_of` for all elements of the range.
template <class Range, class JsonOf>
[[nodiscard]] Json json_list(const Range& range, const JsonOf& json_of) {
  Json list = Json::array();
  for (const auto& one : range) list.push_back(std::invoke(json_of, one));
  return list;
}

[[nodiscard]] Json head_json(const DocumentHead& head);
/// The same for head_of().
[[nodiscard]] Json json_head(const char* tool, const platform::Machine& machine, const std::string& backend,
                             bool is_emulated, const std::optional<platform::Place>& place = std::nullopt);

/// One document. Bytes that are not UTF-8 (as in a device's name) are replaced, so that it can be parsed.
[[nodiscard]] std::string text_of(const Json& document);
void print_json(const Json& document);
/// Writes to the file or standard output that the option names (document_option.hpp). Does nothing if the option was
/// not given.
void write_json(const DocumentOption& option, const Json& document);

}  // namespace gdrkit::cli
