// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Suggestion: the known word that a mistyped word probably means.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrkit::cli {

/// Insertions, deletions, replacements and swaps of neighbours that turn `one` into `other`.
[[nodiscard]] std::size_t edit_distance(const std::string& one, const std::string& other);

/// The nearest word of `known`, with at most a third of the letters different, or the only one with the prefix `word`;
/// "" if there is none.
[[nodiscard]] std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean 'copylat'?", or "".
[[nodiscard]] std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace gdrkit::cli
