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

}  // namespace gdrkit::tools
