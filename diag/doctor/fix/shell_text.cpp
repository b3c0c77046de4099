// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/fix/shell_text.hpp"

#include <algorithm>
#include <string_view>

namespace gdrkit::tools::doctor {
namespace {

constexpr std::size_t longest_word = 64;
constexpr std::size_t line_width = 110;

// No <cctype>: what a locale calls a letter is none here.
bool is_safe(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || std::string_view("._:@-").find(character) != std::string_view::npos;
}

}  // namespace

bool is_safe_word(const std::string& text) {
  return !text.empty() && text.size() <= longest_word && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), is_safe);
}

std::optional<std::string> shell_word(const std::string& text) {
  if (!is_safe_word(text)) return std::nullopt;
  return "'" + text + "'";
}

std::string shell_comment(const std::string& text, unsigned indent) {
  const std::string start = "#" + std::string(indent, ' ');
  std::string plain = text;
  for (char& character : plain) {
    if (character < 0x20 || character > 0x7e) character = character == '\t' || character == '\n' ? ' ' : '?';
  }
  std::string lines;
  for (std::size_t at = 0; at < plain.size();) {
    std::size_t end = std::min(plain.size(), at + line_width - start.size());
    if (end < plain.size()) {
      const auto blank = plain.rfind(' ', end);
      if (blank != std::string::npos && blank > at) end = blank;
    }
    lines += start + plain.substr(at, end - at) + "\n";
    at = std::min(plain.find_first_not_of(' ', end), plain.size());
  }
  return lines.empty() ? "#\n" : lines;
}

}  // namespace gdrkit::tools::doctor
