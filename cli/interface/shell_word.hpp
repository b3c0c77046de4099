// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A word of a command line that every POSIX shell and zsh takes literally.
#pragma once

#include <string>

namespace gdrkit::cli {

/// Unchanged if no shell expands anything in it, otherwise in single quotes. zsh replaces a leading =, and a = that
/// follows an assignment's =, by the path of a command; ^ is an operator of its extended patterns.
[[nodiscard]] inline std::string shell_word(const std::string& text) {
  constexpr const char* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:,=+@%";
  const bool is_expanded = text.starts_with('=') || text.find("==") != std::string::npos;
  if (!text.empty() && !is_expanded && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char character : text) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

}  // namespace gdrkit::cli
