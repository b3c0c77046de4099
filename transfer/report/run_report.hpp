// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RunReport: the report of a run, common to all suites, and RunOutput: its destinations from the options.
#pragma once

#include <optional>
#include <string>

#include "cli/interface/exit_code.hpp"
#include "measure/bench/compare_run.hpp"
#include "measure/result/result.hpp"
#include "platform/device/device.hpp"
#include "transfer/report/doctor_advice.hpp"
#include "transfer/report/document_options.hpp"

namespace gdrkit::transfer::report {

/// The result given by --compare, and the comparison with it.
class EarlierResult {
 public:
  /// Reads `path`. `who` is the prefix of error messages. Throws Failure(usage), as all functions here do.
  EarlierResult(std::string path, bool is_forced, std::string who = "gdrkit: --compare");

  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] measure::Result& result() noexcept { return old_; }
  [[nodiscard]] const measure::Result& result() const noexcept { return old_; }

  /// Call it before measuring: checks whether results with this head can be compared.
  void check(const measure::Result& head) const;
  /// Compares results that have a point in common, without a verdict. The report points into both results.
  [[nodiscard]] measure::bench::CompareReport compare(const measure::Result& current) const;
  /// Writes the report of measure/compare to `text`. failed: something is slower beyond the noise; usage: an important
  /// point cannot be judged. Every series counts, of every library, and no point is measured again.
  [[nodiscard]] cli::ExitCode compare_with(measure::Result current, std::string* text) const;

 private:
  std::string path_;
  bool is_forced_;
  std::string who_;
  measure::Result old_;
};

struct RunReport {
  measure::Result result;  ///< its series are added at the end
  DoctorAdvice doctor;
};

/// The head of the result: this version of gdrkit, today's date, this machine.
void describe_run(measure::Result* result, const char* tool, bool is_emulated, const platform::Device* device);

class RunOutput {
 public:
  /// `prints`: this process prints and writes the results of all.
  RunOutput(const DocumentOptions& options, bool prints) : options_(options), prints_(prints) {}

  /// Call it before measuring: reads the earlier result of --compare, and checks whether results with this head can be
  /// compared with it. Throws Failure(usage).
  void check(const measure::Result& head);
  /// Prints on standard output, unless a document is written there.
  void print(const std::string& text) const;
  /// Writes --csv and prints the comparison. Returns the run's exit code: failed if the result is not ok, otherwise the
  /// comparison's.
  [[nodiscard]] cli::ExitCode finish(const measure::Result& result) const;

 private:
  const DocumentOptions& options_;
  bool prints_;
  std::optional<EarlierResult> earlier_;
};

}  // namespace gdrkit::transfer::report
