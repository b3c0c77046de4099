// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/markup.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace gdrkit::measure::report {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// A UTF-8 character at the start of a text; 0 bytes: invalid.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at) & 0x3fu);
  }
  constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (code < smallest[bytes] || code > 0x10ffff || is_surrogate) return {};
  return {code, bytes};
}

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
    const Character character = first_character(text);
    if (character.bytes == 0 || is_hidden(character.code)) {
      out += replacement;
    } else {
      append_escaped(&out, text.substr(0, character.bytes));
    }
    text.remove_prefix(character.bytes == 0 ? 1 : character.bytes);
  }
  return out;
}

std::size_t length_of(std::string_view text) {
  std::size_t length = 0;
  for (; !text.empty(); ++length) {
    const Character character = first_character(text);
    text.remove_prefix(character.bytes == 0 ? 1 : character.bytes);
  }
  return length;
}

std::string shortened(std::string_view text, std::size_t characters) {
  if (length_of(text) <= characters) return std::string(text);
  std::string out;
  for (std::size_t count = 0; count + 1 < characters; ++count) {
    const Character character = first_character(text);
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
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
  if (out.size() > 2 && out.compare(out.size() - 2, 2, ".0") == 0) out.resize(out.size() - 2);
  return out;
}

}  // namespace gdrkit::measure::report
