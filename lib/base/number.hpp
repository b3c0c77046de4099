// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Numbers in options, environment variables and files.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace gdrkit::base {

/// Parses all of `text` as an integer. Returns false for any other text, for example an empty one, one with blanks, or
/// a number out of range. *value is then unspecified.
template <class Integer>
[[nodiscard]] bool parse_number(std::string_view text, Integer* value, int base) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value, base);
  return error == std::errc() && stop == end;
}

/// The same for a decimal number. It may have a fraction if Number is a floating-point type.
template <class Number>
[[nodiscard]] bool parse_number(std::string_view text, Number* value) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end;
}

/// The same for a decimal integer, or a hexadecimal one after "0x".
template <class Integer>
[[nodiscard]] bool parse_prefixed_number(std::string_view text, Integer* value) noexcept {
  const bool is_hex = text.starts_with("0x");
  return parse_number(is_hex ? text.substr(2) : text, value, is_hex ? 16 : 10);
}

}  // namespace gdrkit::base
