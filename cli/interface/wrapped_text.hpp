// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WrappedText: human-readable lines that fit a terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gdrkit::cli {

/// Maximum columns of a human-readable line. A table, or a word without blanks, may be wider.
inline constexpr std::size_t output_columns = 110;

/// `text` broken at blanks into lines, each with its line end. The first line starts with `first`, the others with
/// `rest`. `first` must not have more columns than `rest`; escape sequences in it do not count.
[[nodiscard]] std::string wrapped(const std::string& first, const std::string& rest, const std::string& text);

/// `text` with every line that is too long broken at blanks; continuation lines are indented. Line ends are kept.
[[nodiscard]] std::string fitted(const std::string& text, std::size_t indent);

/// "rc,cuda,sm": the words of the range, or what `word_of` returns for its elements.
template <class Range, class WordOf = std::identity>
[[nodiscard]] std::string joined(const Range& range, const char* separator, const WordOf& word_of = {}) {
  std::string text;
  for (const auto& one : range) {
    if (!text.empty()) text += separator;
    text += std::invoke(word_of, one);
  }
  return text;
}

/// The inverse of `joined`. Returns all parts between separators, including empty ones.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// "1 check", "2 checks"
[[nodiscard]] std::string counted(std::size_t count, const std::string& noun);

}  // namespace gdrkit::cli
