// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Suggestion: which known word a mistyped one probably stands for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrkit::cli {

/// Insertions, deletions, replacements and swaps of neighbours that make `other` of `one`.
[[nodiscard]] std::size_t edit_distance(const std::string& one, const std::string& other);

/// The nearest of `known`, at most a third of the letters away, or the only one that `word` begins; "" when there is
/// none.
[[nodiscard]] std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean 'copylat'?", or "".
[[nodiscard]] std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace gdrkit::cli
