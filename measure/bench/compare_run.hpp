// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CompareRun: --compare, from the old file to the exit code.
#pragma once

#include <string>
#include <vector>

#include "measure/bench/options.hpp"
#include "measure/bench/session.hpp"
#include "measure/compare/retrial.hpp"

namespace gdrkit::measure::bench {

struct CompareReport {
  std::string old_name;
  Comparison comparison;
  std::vector<std::string> settings;     ///< differences that may explain
  std::vector<RetriedPoint> slower;      ///< regressions
  std::vector<RetriedPoint> cleared;     ///< stood out, and did not come again
  std::vector<RetriedPoint> unresolved;  ///< stood out, and could not be measured again

  std::vector<std::string> undecided;  ///< what matters and cannot be judged, a clause each

  /// failed: something is slower. usage (2): nothing is known to be, and that means nothing, as what matters cannot be
  /// judged.
  [[nodiscard]] cli::ExitCode exit_code() const {
    if (!slower.empty()) return cli::ExitCode::failed;
    return undecided.empty() ? cli::ExitCode::ok : cli::ExitCode::usage;
  }
};

class CompareRun {
 public:
  /// Reads the old file. Throws Failure(usage) with what is wrong with it.
  explicit CompareRun(const BenchOptions& options);

  /// Where the old result was measured; -1: not bound to a CPU.
  [[nodiscard]] int cpu() const { return old_.place ? old_.place->cpu : -1; }
  /// Throws Failure(usage) where results with this head cannot be compared with the old one: before measuring.
  void check(const Result& head) const;
  /// The report points into `current` and into this. `session`: to measure again what stands out; nullptr: both results
  /// are of files, and stand as they are. Throws Failure(usage) when they have nothing in common.
  [[nodiscard]] CompareReport compare_with(const Result& current, Session* session);

 private:
  const BenchOptions& options_;
  Result old_;
};

/// The result of `path`. Throws Failure(usage).
[[nodiscard]] Result read_result_file(const std::string& path);
/// The sections and sizes that were asked for.
[[nodiscard]] Result narrowed(Result result, const BenchOptions& options);
[[nodiscard]] std::string report_text(const CompareReport& report);

}  // namespace gdrkit::measure::bench
