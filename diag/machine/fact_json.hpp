// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FactJson: a Fact in the documents of a recording's directory /gdrkit: its value, or an object with the outcome and
// the reason.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag::machine::fact_json {

using Json = nlohmann::ordered_json;
using topology::Fact;
using topology::Outcome;

inline constexpr std::size_t longest_text = 4096;
inline constexpr const char* outcome_names[] = {"found", "absent", "unreadable", "malformed"};

/// The document, or a discarded value if the text is not JSON, nests deeper than `deepest`, or has more objects and
/// lists than any machine. The limits are checked before parsing, so a forged text costs neither time nor memory.
inline Json parse_bounded(std::string_view text, int deepest) {
  constexpr std::size_t most_parts = 65536;
  std::size_t parts = 0;
  int depth = 0;
  bool is_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    if (is_text) {
      at += character == '\\' ? 1 : 0;
      is_text = character != '"';
    } else if (character == '"') {
      is_text = true;
    } else if (character == '{' || character == '[') {
      if (++depth > deepest || ++parts > most_parts) return Json(Json::value_t::discarded);
    } else if (character == '}' || character == ']') {
      --depth;
    }
  }
  return Json::parse(text, nullptr, false);
}

/// "/gdrkit/nvml.json: 'gpus' is not a list"
inline std::string excuse(const char* recording, const std::string& name, const char* what) {
  return std::string(recording) + ": '" + name + "' " + what;
}

inline Json failure_json(Outcome outcome, const std::string& reason) {
  return {{"outcome", outcome_names[static_cast<std::size_t>(outcome)]}, {"reason", reason}};
}

template <class T>
Json json_of(const Fact<T>& fact) {
  return fact.is_found() ? Json(fact.value) : failure_json(fact.outcome, fact.reason);
}

/// Parses an object with the outcome and reason of a failure. Returns false for other objects.
inline bool take_failure(const Json& json, Outcome* outcome, std::string* reason) {
  const auto named = json.find("outcome");
  const auto why = json.find("reason");
  if (named == json.end() || why == json.end() || !named->is_string() || !why->is_string()) return false;
  *reason = why->get_ref<const std::string&>();
  if (reason->size() > longest_text) return false;
  for (const Outcome other : {Outcome::absent, Outcome::unreadable, Outcome::malformed}) {
    *outcome = other;
    if (named->get_ref<const std::string&>() == outcome_names[static_cast<std::size_t>(other)]) return true;
  }
  return false;
}

inline bool take_value(const Json& json, bool* value) {
  if (json.is_boolean()) *value = json.get<bool>();
  return json.is_boolean();
}

/// Numbers are sizes, counts and enumerations, and never negative.
inline bool take_value(const Json& json, std::int64_t* value) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return false;
  *value = json.get<std::int64_t>();
  return true;
}

inline bool take_value(const Json& json, std::string* value) {
  if (!json.is_string() || json.get_ref<const std::string&>().size() > longest_text) return false;
  *value = json.get<std::string>();
  return true;
}

template <class T>
Fact<T> fact_of(const Json& object, const char* recording, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return {Outcome::unreadable, {}, excuse(recording, name, "is not recorded")};
  Fact<T> fact;
  if (at->is_object() && take_failure(*at, &fact.outcome, &fact.reason)) return fact;
  if (!take_value(*at, &fact.value)) return {Outcome::malformed, {}, excuse(recording, name, "is invalid")};
  fact.outcome = Outcome::found;
  return fact;
}

/// Reads the list `name` of at most `most` objects. Returns "" or the reason of a failure.
inline std::string take_list(const Json& object, const char* recording, const char* name, std::size_t most,
                             const Json** list) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_array()) return excuse(recording, name, "is not a list");
  if (at->size() > most) return excuse(recording, name, "has too many entries");
  for (const Json& entry : *at) {
    if (!entry.is_object()) return excuse(recording, name, "contains an element that is not an object");
  }
  *list = &*at;
  return "";
}

/// Parses the document of a recording. `take` reads the facts of an object and returns "" or the reason of a failure.
template <class Facts>
Fact<Facts> parse_recording(std::string_view text, const char* recording, const std::string& schema, int deepest,
                            std::string (*take)(const Json&, Facts*)) {
  const Json json = parse_bounded(text, deepest);
  if (!json.is_object()) return {Outcome::malformed, {}, std::string(recording) + ": is not a JSON object"};
  if (const auto at = json.find("schema"); at == json.end() || *at != schema) {
    return {Outcome::malformed, {}, excuse(recording, "schema", ("is not " + schema).c_str())};
  }
  Fact<Facts> facts;
  if (take_failure(json, &facts.outcome, &facts.reason)) return facts;
  if (auto why = take(json, &facts.value); !why.empty()) return {Outcome::malformed, {}, std::move(why)};
  facts.outcome = Outcome::found;
  return facts;
}

template <class Facts>
Fact<Facts> read_recording(const topology::MachineView& view, const char* recording,
                           Fact<Facts> (*parse)(std::string_view)) {
  const auto text = view.text(recording);
  if (text.is_found()) return parse(text.value);
  if (!text.is_absent()) return topology::pass<Facts>(text);
  return {Outcome::unreadable, {}, std::string("not recorded: ") + recording};
}

}  // namespace gdrkit::diag::machine::fact_json
