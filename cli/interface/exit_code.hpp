// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ExitCode and Failure: how a tool ends, and how any function makes it end.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gdrkit::cli {

/// Under the gdrcopy_* names every code except ok is 1. Only the doctor uses unreadable and bad_recording.
enum class ExitCode : int { ok = 0, failed = 1, usage = 2, unreadable = 3, bad_recording = 4, cannot_run = 77 };

/// Thrown to end the tool with an error message on stderr. Only the tools throw; the library never does.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message, std::string assertion = "")
      : std::runtime_error(message), code_(code), assertion_(std::move(assertion)) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }
  /// `Assertion "..." failed at file.cpp:12`, which GDRCopy's tools print; "" if no check failed.
  [[nodiscard]] const std::string& assertion() const noexcept { return assertion_; }

 private:
  ExitCode code_;
  std::string assertion_;
};

/// Throws Failure(usage): the command line is wrong.
[[noreturn]] void reject(const std::string& message);
/// Throws Failure(failed).
[[noreturn]] void fail(const std::string& message);
/// Throws Failure(cannot_run): the machine lacks something that the tool requires.
[[noreturn]] void cannot_run(const std::string& message);
/// Ends the tool because a check failed. `reason` is the error message; if it is "", the assertion is printed.
[[noreturn]] void fail_assertion(const char* expression, const char* file, int line, const std::string& reason);

/// printf into a string.
[[nodiscard, gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// Returns the reason why fork() failed: the error, and the limit that caused it.
[[nodiscard]] std::string fork_error_text(int error);

/// Returns a pointer to each word, followed by nullptr, as exec() and main() expect. The pointers are valid as long as
/// `words` is unchanged.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& words);

/// `text` for a terminal: contents of files and arguments must not move the cursor or colour the screen. Control
/// characters except tabs and line ends become '?', and so do bytes that are not UTF-8, which XML and JSON forbid too.
[[nodiscard]] std::string printable(std::string text);

}  // namespace gdrkit::cli

/// Throws Failure(failed) with the assertion `Assertion "<expression>" failed at <file>:<line>` if the expression is
/// false.
#define GDRKIT_TOOL_ASSERT(expression, reason)                                                        \
  do {                                                                                                \
    if (!(expression)) ::gdrkit::cli::fail_assertion(#expression, __FILE_NAME__, __LINE__, (reason)); \
  } while (false)
