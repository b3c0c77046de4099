// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RunReport: the report of a run, common to all suites, and RunOutput: its destinations from the options.
#pragma once

#include <optional>
#include <string>

#include "cli/interface/exit_code.hpp"
#include "measure/result/result.hpp"
#include "platform/device/device.hpp"
#include "transfer/report/doctor_advice.hpp"
#include "transfer/report/document_options.hpp"
#include "transfer/report/earlier_result.hpp"

namespace gdrkit::transfer::report {

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
