// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/fix/shell_text.hpp"

#include <algorithm>
#include <string_view>

#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::size_t longest_word = 64;

// Does not use <cctype>, whose definition of a letter depends on the locale.
bool is_safe(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || std::string_view("._:@-").find(character) != std::string_view::npos;
}

}  // namespace

bool is_safe_word(const std::string& text) {
  return !text.empty() && text.size() <= longest_word && text.front() != '-' && std::ranges::all_of(text, is_safe);
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
  return plain.empty() ? "#\n" : cli::wrapped(start, start, plain);
}

}  // namespace gdrkit::diag::doctor
