// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The library's errors as Python's exceptions gdrkit.Error and gdrkit.Timeout.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace gdrkit_python {

/// A wait of ours that came to its limit: gdrkit.Timeout.
struct TimedOut {
  std::string text;
};

/// What came back from a C function whose text is in `detail`; throws gdrkit::Error.
[[noreturn]] void throw_error(int errno_value, const std::string& detail);

/// Once for each extension module: makes gdrkit::Error and TimedOut the exceptions of gdrkit/_errors.py.
void register_errors();

}  // namespace gdrkit_python
