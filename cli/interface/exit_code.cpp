// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/exit_code.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace gdrkit::cli {

void reject(const std::string& message) { throw Failure(ExitCode::usage, message); }
void fail(const std::string& message) { throw Failure(ExitCode::failed, message); }
void cannot_run(const std::string& message) { throw Failure(ExitCode::cannot_run, message); }

void fail_assertion(const char* expression, const char* file, int line, const std::string& reason) {
  const std::string assertion = format("Assertion \"%s\" failed at %s:%d", expression, file, line);
  throw Failure(ExitCode::failed, reason.empty() ? assertion : reason, reason.empty() ? "" : assertion);
}

namespace {

/// Bytes of the UTF-8 character at `at`; 0 if it is invalid: truncated, overlong, or a surrogate.
std::size_t whole_character(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : (first & 0xf0) == 0xe0        ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(at + 1);
  const bool is_wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return is_wrong ? 0 : length;
}

/// False for control characters, including U+0080 to U+009F, and for characters that change the direction of a line.
bool is_shown(const std::string& text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1) return (byte(0) >= 0x20 && byte(0) != 0x7f) || byte(0) == '\n' || byte(0) == '\t';
  if (length == 2) return !(byte(0) == 0xc2 && byte(1) < 0xa0);
  if (length == 3 && byte(0) == 0xe2) {
    const bool is_turn = byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae;     // U+2028 to U+202E
    const bool is_isolate = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;  // U+2066 to U+2069
    return !is_turn && !is_isolate;
  }
  if (length == 3 && byte(0) == 0xef) return !(byte(1) == 0xbf && byte(2) >= 0xbe);  // noncharacters, which XML forbids
  return length > 0;
}

}  // namespace

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

std::string fork_error_text(int error) {
  std::string text = std::strerror(error);
  if (error == EAGAIN) {
    text +=
        " (too many processes); raise the limit of this user (ulimit -u) or of the container or job (pids.max of its "
        "cgroup)";
  }
  return text;
}

std::string printable(std::string text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = whole_character(text, at);
    result += is_shown(text, at, length) ? text.substr(at, length) : "?";
    at += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace gdrkit::cli
