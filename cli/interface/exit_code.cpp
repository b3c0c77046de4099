// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/exit_code.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cli/interface/utf8.hpp"

namespace gdrkit::cli {

void reject(const std::string& message) { throw Failure(ExitCode::usage, message); }
void fail(const std::string& message) { throw Failure(ExitCode::failed, message); }
void cannot_run(const std::string& message) { throw Failure(ExitCode::cannot_run, message); }

void fail_assertion(const char* expression, const char* file, int line, const std::string& reason) {
  const std::string assertion = format("Assertion \"%s\" failed at %s:%d", expression, file, line);
  throw Failure(ExitCode::failed, reason.empty() ? assertion : reason, reason.empty() ? "" : assertion);
}

namespace {

/// False for control characters, including U+0080 to U+009F, for characters that change the direction of a line, and
/// for noncharacters, which XML forbids.
bool is_shown(std::uint32_t code) {
  if (code < 0x20) return code == '\n' || code == '\t';
  const bool is_control = code >= 0x7f && code < 0xa0;
  const bool is_turn = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !is_control && !is_turn && code != 0xfffe && code != 0xffff;
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
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    result += character.bytes != 0 && is_shown(character.code) ? rest.substr(0, character.bytes) : "?";
    rest.remove_prefix(character.step());
  }
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace gdrkit::cli
