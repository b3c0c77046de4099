// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// IsolatedRun: one test in a process of its own, so that a crash, a hang or a leak of it is its own.
#pragma once

#include <functional>
#include <string>

namespace gdrkit::measure::sanity {

enum class Verdict { passed, failed, waived };
[[nodiscard]] const char* verdict_name(Verdict verdict);  ///< "PASSED", "FAILED", "WAIVED"

struct Outcome {
  Verdict verdict = Verdict::failed;
  std::string reason;  ///< why failed or waived, "" when passed
  double seconds = 0;
};

/// Forks; the child, in a process group of its own, runs `body` and passes if it returns. Exit code 2 waives, any
/// other, a signal, or more than `limit_seconds` fails. What is left of the group afterwards is killed.
/// Failure(cannot_run) thrown by `body` waives, any other exception fails.
[[nodiscard]] Outcome run_isolated(const std::function<void()>& body, double limit_seconds);

}  // namespace gdrkit::measure::sanity
