// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RunReport: what every suite reports of a run, and RunOutput: where its options send it.
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
  measure::Result result;  ///< its series are made at the end
  DoctorAdvice doctor;
};

/// The head of the result: of this version of gdrkit, today, on this machine.
void describe_run(measure::Result* result, const char* tool, bool is_emulated, const platform::Device* device);

class RunOutput {
 public:
  /// `prints`: this process prints and writes what all have measured. Reads the earlier result of --compare. Throws
  /// Failure(usage).
  RunOutput(const DocumentOptions& options, bool prints);

  /// Before measuring: whether results with this head can be compared. Throws Failure(usage).
  void check(const measure::Result& head) const;
  /// On standard output, unless a document is there.
  void print(const std::string& text) const;
  /// Writes --csv and prints the comparison. Returns the run's exit code: failed where the result is not ok, else the
  /// comparison's.
  [[nodiscard]] cli::ExitCode finish(const measure::Result& result) const;

 private:
  const DocumentOptions& options_;
  bool prints_;
  std::optional<EarlierResult> earlier_;
};

}  // namespace gdrkit::transfer::report
