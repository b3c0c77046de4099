// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ExitCode and Failure: how a tool ends, and how any depth of it says so.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace gdrkit::tools {

/// Under the gdrcopy_* names everything that is not ok is 1.
/// unreadable and bad_recording are the doctor's.
enum class ExitCode : int { ok = 0, failed = 1, usage = 2, unreadable = 3, bad_recording = 4, cannot_run = 77 };

/// Thrown to end the tool with an error message on stderr. Only the tools throw; the library never does.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message, std::string assertion = "")
      : std::runtime_error(message), code_(code), assertion_(std::move(assertion)) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }
  /// `Assertion "..." failed at file.cpp:12`, which GDRCopy's tools print; "" when no check failed.
  [[nodiscard]] const std::string& assertion() const noexcept { return assertion_; }

 private:
  ExitCode code_;
  std::string assertion_;
};

/// Ends the tool because a check failed. `reason` is the error message; where it is "", the assertion is.
[[noreturn]] void fail_assertion(const char* expression, const char* file, int line, const std::string& reason);

/// printf into a string.
[[nodiscard, gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// Returns the reason why fork() failed: the error, and the limit that caused it.
[[nodiscard]] std::string fork_error_text(int error);

/// `text` for a terminal: what a file or an argument brought in must not move the cursor or colour the screen. Control
/// characters but tabs and line ends become '?', and so does what is no UTF-8, which XML and JSON forbid too.
[[nodiscard]] std::string printable(std::string text);

}  // namespace gdrkit::tools

/// Throws Failure(failed) with the assertion `Assertion "<expression>" failed at <file>:<line>` when the expression is
/// false.
#define GDRKIT_TOOL_ASSERT(expression, reason)                                                          \
  do {                                                                                                  \
    if (!(expression)) ::gdrkit::tools::fail_assertion(#expression, __FILE_NAME__, __LINE__, (reason)); \
  } while (false)
