// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/result.hpp"

#include <cstdarg>

namespace gdrkit::base {

tl::unexpected<Error> fail(int errno_value, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  Error error{errno_value, 0, SharedText::format(format, arguments)};
  va_end(arguments);
  return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> fail_vendor(int errno_value, int vendor_code, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  Error error{errno_value, vendor_code, SharedText::format(format, arguments)};
  va_end(arguments);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace gdrkit::base
