// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// IsolatedRun: runs one test in a separate process, so that its crash, hang or leak does not affect others.
#pragma once

#include <functional>
#include <string>

namespace gdrkit::measure::sanity {

enum class Verdict { passed, failed, waived };
[[nodiscard]] const char* verdict_name(Verdict verdict);  ///< "PASSED", "FAILED", "WAIVED"

struct Outcome {
  Verdict verdict = Verdict::failed;
  std::string reason;  ///< why it failed or was waived; "" if it passed
  double seconds = 0;
};

/// Forks; the child, in its own process group, runs `body` and passes if it returns. Exit code 2 waives; any other
/// code, a signal, or exceeding `limit_seconds` fails. Remaining processes of the group are killed afterwards.
/// Failure(cannot_run) thrown by `body` waives, any other exception fails.
[[nodiscard]] Outcome run_isolated(const std::function<void()>& body, double limit_seconds);

}  // namespace gdrkit::measure::sanity
