// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/markup.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "cli/interface/utf8.hpp"

namespace gdrkit::measure::report {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// Control characters, marks that change the direction of following text, and noncharacters.
bool is_hidden(std::uint32_t code) {
  if (code < 0x20) return code != '\t' && code != '\n';
  return (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
         code == 0x200e || code == 0x200f || code == 0xfeff || (code & 0xfffe) == 0xfffe;
}

void append_escaped(std::string* out, std::string_view character) {
  switch (character[0]) {
    case '&': *out += "&amp;"; break;
    case '<': *out += "&lt;"; break;
    case '>': *out += "&gt;"; break;
    case '"': *out += "&quot;"; break;
    case '\'': *out += "&#39;"; break;
    default: *out += character;
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const cli::Utf8Character character = cli::first_character(text);
    if (character.bytes == 0 || is_hidden(character.code)) {
      out += replacement;
    } else {
      append_escaped(&out, text.substr(0, character.bytes));
    }
    text.remove_prefix(character.step());
  }
  return out;
}

std::size_t length_of(std::string_view text) {
  std::size_t length = 0;
  for (; !text.empty(); ++length) {
    text.remove_prefix(cli::first_character(text).step());
  }
  return length;
}

std::string shortened(std::string_view text, std::size_t characters) {
  if (length_of(text) <= characters) return std::string(text);
  std::string out;
  for (std::size_t count = 0; count + 1 < characters; ++count) {
    const std::size_t bytes = cli::first_character(text).step();
    out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out + "…";
}

std::string coordinate(double value) {
  std::array<char, 64> text{};
  const double near = std::round(value * 10) / 10;
  std::snprintf(text.data(), text.size(), "%.1f", near == 0 ? 0.0 : near);
  std::string out = text.data();
  if (out.size() > 2 && out.ends_with(".0")) out.resize(out.size() - 2);
  return out;
}

}  // namespace gdrkit::measure::report
