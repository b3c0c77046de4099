// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A word of a shell's command line that stands for itself, whatever it holds.
#pragma once

#include <string>

namespace gdrkit::tools {

/// As it is when it holds nothing that a shell treats, else in single quotes.
[[nodiscard]] inline std::string shell_word(const std::string& text) {
  constexpr const char* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:,=+@%^";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char character : text) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

}  // namespace gdrkit::tools
