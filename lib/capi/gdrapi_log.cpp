// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "capi/gdrapi_log.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/settings.hpp"

namespace gdrkit::capi {
namespace {

constexpr int not_read = INT_MIN;
constexpr int off = INT_MAX;
// Threads that log for the first time at once read the same environment and store the same value.
constinit std::atomic<int> lowest_level{not_read};

int read_lowest_level() noexcept try {
  const base::Settings settings = base::read_settings();
  return settings.log_enabled ? std::max(settings.log_level, not_read + 1) : off;
} catch (const std::bad_alloc&) {
  return off;
}

bool is_printed(LogLevel level) noexcept {
  int lowest = lowest_level.load(std::memory_order_relaxed);
  if (lowest == not_read) {
    lowest = read_lowest_level();
    lowest_level.store(lowest, std::memory_order_relaxed);
  }
  return lowest != off && static_cast<int>(level) >= lowest;
}

const char* prefix(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug: return "DBG:  ";
    case LogLevel::info: return "INFO: ";
    case LogLevel::warning: return "WARN: ";
    case LogLevel::error: return "ERR:  ";
  }
  return "";
}

}  // namespace

void log(LogLevel level, const char* format, ...) noexcept {
  if (!is_printed(level)) return;
  const int saved_errno = errno;
  char line[4096];
  constexpr std::size_t room = sizeof line - 1;  // for the newline
  std::strcpy(line, prefix(level));
  std::size_t length = std::strlen(line);
  va_list arguments;
  va_start(arguments, format);
  const int wanted = std::vsnprintf(line + length, room - length, format, arguments);
  va_end(arguments);
  if (wanted > 0) length = std::min(length + static_cast<std::size_t>(wanted), room - 1);
  line[length++] = '\n';
  // One write for one line, so that lines of several threads and processes do not mix. A failure cannot be reported.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, length);
  errno = saved_errno;
}

}  // namespace gdrkit::capi
