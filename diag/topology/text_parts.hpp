// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions for the parts of a text that a machine shows: lines, words and labels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "diag/topology/fact.hpp"

namespace gdrkit::diag::topology {

/// The parts between separators, like the lines of a file: a separator at the end is not followed by an empty part.
[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

[[nodiscard]] inline std::string trimmed(std::string_view text, const char* blanks = " \t\r") {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

/// Whether one of the words between blanks is `word`.
[[nodiscard]] inline bool has_word(const std::string& text, const std::string& word) {
  return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

[[nodiscard]] inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// At most `longest` characters; bytes that are not printable ASCII become '?'.
[[nodiscard]] inline std::string plain(std::string_view text, std::size_t longest) {
  std::string result(text.substr(0, longest));
  for (char& character : result) {
    if (character < 0x20 || character > 0x7e) character = '?';
  }
  return result;
}

/// The value of the first line "label : value"; absent if the text has none.
[[nodiscard]] inline Fact<std::string> labelled(const Fact<std::string>& text, const std::string& label) {
  if (!text.is_found()) return text;
  for (const std::string& line : split(text.value, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1) != label) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return found(begin == std::string::npos ? "" : line.substr(begin));
  }
  return {Outcome::absent, "", "no line '" + label + "'"};
}

}  // namespace gdrkit::diag::topology
