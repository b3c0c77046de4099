// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How a sanity test ends: it passes by returning. These two functions end its process with another verdict and a
// reason.
#pragma once

#include <string>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::measure::sanity {

/// Exit codes of a test's process, the same as GDRCopy's.
inline constexpr int exit_passed = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_waived = 2;

/// Called once in a test's process: sets the destination of reasons. Forked children of the test inherit it.
void set_reason_descriptor(int descriptor) noexcept;

/// Callable from any thread and any child of the test. Reports the reason and ends the process immediately, without
/// destructors: the failed state must not be used for a teardown.
[[noreturn]] void waive(const std::string& reason) noexcept;
[[noreturn]] void fail(const std::string& reason) noexcept;

}  // namespace gdrkit::measure::sanity

/// SANITY_CHECK(expression, printf format and values that describe the result)
#define SANITY_CHECK(expression, ...)                                                                         \
  do {                                                                                                        \
    if (!(expression))                                                                                        \
      ::gdrkit::measure::sanity::fail(                                                                        \
          ::gdrkit::cli::format("Assertion \"%s\" failed at %s:%d: ", #expression, __FILE_NAME__, __LINE__) + \
          ::gdrkit::cli::format(__VA_ARGS__));                                                                \
  } while (false)

/// SANITY_RESULT(call, expected): the call's int result equals the expected errno (0 for success).
#define SANITY_RESULT(call, expected)                                                                        \
  do {                                                                                                       \
    const int sanity_result = (call);                                                                        \
    const int sanity_expected = (expected);                                                                  \
    if (sanity_result != sanity_expected)                                                                    \
      ::gdrkit::measure::sanity::fail(                                                                       \
          ::gdrkit::cli::format("Assertion \"(%s) == (%s)\" failed at %s:%d: got %d, "                       \
                                "expected %d",                                                               \
                                #call, #expected, __FILE_NAME__, __LINE__, sanity_result, sanity_expected)); \
  } while (false)
