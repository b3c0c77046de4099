// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/result.hpp"

#include <cstdarg>
#include <cstdio>

namespace gdrkit::base {
namespace {

// Two buffers, so that a sentence may quote the one before it ("%s" of detail()).
thread_local char details[2][detail_capacity];
thread_local unsigned current = 0;

void write_detail(const char* format, va_list arguments) noexcept {
  const int saved_errno = errno;
  const unsigned next = 1 - current;
  std::vsnprintf(details[next], detail_capacity, format, arguments);
  current = next;
  errno = saved_errno;
}

}  // namespace

tl::unexpected<Error> fail(int errno_value, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  Error error{errno_value, 0, SharedText::format(format, arguments)};
  va_end(arguments);
  set_detail("%s", error.text());
  return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> fail_vendor(int errno_value, int vendor_code, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  Error error{errno_value, vendor_code, SharedText::format(format, arguments)};
  va_end(arguments);
  set_detail("%s", error.text());
  return tl::unexpected<Error>(std::move(error));
}

const char* detail() noexcept { return details[current]; }

void set_detail(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  write_detail(format, arguments);
  va_end(arguments);
}

}  // namespace gdrkit::base
