// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WrappedText: lines for people, which fit a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace gdrkit::cli {

/// Columns of a line for people at most. A table may be wider, and so may a word that has no blank in it.
inline constexpr std::size_t output_columns = 110;

/// `text` broken at blanks into lines, each with its line end. The first line starts with `first`, the others with
/// `rest`. `first` takes at most as many columns as `rest`; escape sequences in it take none.
[[nodiscard]] std::string wrapped(const std::string& first, const std::string& rest, const std::string& text);

/// `text` with every line that is too long broken at blanks; what follows a break is indented. Its line ends stay.
[[nodiscard]] std::string fitted(const std::string& text, std::size_t indent);

/// "1 check", "2 checks"
[[nodiscard]] std::string counted(std::size_t count, const std::string& noun);

}  // namespace gdrkit::cli
