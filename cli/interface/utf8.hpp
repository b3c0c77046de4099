// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Characters of a UTF-8 text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gdrkit::cli {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: the text starts with a byte that is not UTF-8

  /// Returns the number of bytes to skip: the length of the character, or 1 for an invalid byte.
  [[nodiscard]] std::size_t step() const noexcept { return bytes == 0 ? 1 : bytes; }
};

/// Returns the character at the start of `text`, which must not be empty. Truncated and overlong forms, surrogates and
/// codes above 0x10ffff are invalid.
[[nodiscard]] Utf8Character first_character(std::string_view text) noexcept;

}  // namespace gdrkit::cli
