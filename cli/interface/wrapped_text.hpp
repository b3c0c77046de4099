// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WrappedText: human-readable lines that fit a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrkit::cli {

/// Maximum columns of a human-readable line. A table, or a word without blanks, may be wider.
inline constexpr std::size_t output_columns = 110;

/// `text` broken at blanks into lines, each with its line end. The first line starts with `first`, the others with
/// `rest`. `first` must not have more columns than `rest`; escape sequences in it do not count.
[[nodiscard]] std::string wrapped(const std::string& first, const std::string& rest, const std::string& text);

/// `text` with every line that is too long broken at blanks; continuation lines are indented. Line ends are kept.
[[nodiscard]] std::string fitted(const std::string& text, std::size_t indent);

/// "rc,cuda,sm"
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const char* separator);

/// "1 check", "2 checks"
[[nodiscard]] std::string counted(std::size_t count, const std::string& noun);

}  // namespace gdrkit::cli
