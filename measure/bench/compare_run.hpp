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
  std::vector<std::string> settings;     ///< differences that may explain changes
  std::vector<RetriedPoint> slower;      ///< regressions
  std::vector<RetriedPoint> cleared;     ///< suspicious once, but not when measured again
  std::vector<RetriedPoint> unresolved;  ///< suspicious, but could not be measured again

  std::vector<std::string> undecided;  ///< important points that cannot be judged, as clauses

  /// failed: something is slower. usage (2): nothing is known to be slower, but important points cannot be judged.
  [[nodiscard]] cli::ExitCode exit_code() const {
    if (!slower.empty()) return cli::ExitCode::failed;
    return undecided.empty() ? cli::ExitCode::ok : cli::ExitCode::usage;
  }
};

class CompareRun {
 public:
  /// Reads the old file. Throws Failure(usage) with its fault.
  explicit CompareRun(const BenchOptions& options);

  /// The CPU of the old measurement; -1: not bound.
  [[nodiscard]] int cpu() const { return old_.place ? old_.place->cpu : -1; }
  /// Call it before measuring. Throws Failure(usage) if results with this head cannot be compared with the old one.
  void check(const Result& head) const;
  /// The report points into `current` and into this object. `session` measures suspicious points again; nullptr: both
  /// results are files and remain unchanged. Throws Failure(usage) if they have nothing in common.
  [[nodiscard]] CompareReport compare_with(const Result& current, Session* session);

 private:
  const BenchOptions& options_;
  Result old_;
};

/// Reads the result in `path`. Throws Failure(usage).
[[nodiscard]] Result read_result_file(const std::string& path);
/// The requested sections and sizes.
[[nodiscard]] Result narrowed(Result result, const BenchOptions& options);
[[nodiscard]] std::string report_text(const CompareReport& report);

}  // namespace gdrkit::measure::bench
