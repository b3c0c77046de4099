// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "tools/common/exit_code.hpp"

#include <cstdarg>
#include <cstdio>

namespace gdrkit::tools {

void fail_assertion(const char* expression, const char* file, int line, const std::string& reason) {
  const std::string before = reason.empty() ? std::string() : reason + "\n";
  throw Failure(ExitCode::failed, before + format("Assertion \"%s\" failed at %s:%d", expression, file, line));
}

std::string format(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  return text;
}

std::string printable(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    if (is_control) text[at] = '?';
    // U+0080 to U+009F, which terminals obey too, are C2 80 to C2 9F.
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) text.replace(at, 2, "?");
  }
  return text;
}

}  // namespace gdrkit::tools
