// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/wrapped_text.hpp"

#include <algorithm>

namespace gdrkit::cli {

std::string wrapped(const std::string& first, const std::string& rest, const std::string& text) {
  const std::size_t room = output_columns - std::min(output_columns - 1, rest.size());
  std::string lines;
  std::size_t at = 0;
  do {
    // A line keeps its blanks, except those at which it is broken. A word that is too long ends at the next blank.
    std::size_t end = text.size();
    if (end - at > room) {
      const std::size_t before = text.rfind(' ', at + room);
      end = before != std::string::npos && before > at ? before : std::min(text.find(' ', at + room), text.size());
    }
    const std::size_t last = text.find_last_not_of(' ', end == at ? at : end - 1);
    lines += lines.empty() ? first : rest;
    if (last != std::string::npos && last >= at) lines += text.substr(at, last + 1 - at);
    lines += '\n';
    at = std::min(text.find_first_not_of(' ', end), text.size());
  } while (at < text.size());
  return lines;
}

std::string fitted(const std::string& text, std::size_t indent) {
  std::string lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    lines += line.size() <= output_columns ? line + "\n" : wrapped("", std::string(indent, ' '), line);
    at = end + 1;
  }
  lines.pop_back();  // the caller ends the last line
  return lines;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace gdrkit::cli
