// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/report/run_report.hpp"

#include <cstdio>

#include "gdrkit/gdrkit.h"
#include "measure/bench/output/csv.hpp"

namespace gdrkit::transfer::report {

void describe_run(measure::Result* result, const char* tool, bool is_emulated, const platform::Device* device) {
  result->tool = tool;
  result->version = gdrkit_version();
  result->date = cli::today();
  result->is_emulated = is_emulated;
  result->machine = platform::describe_machine(device);
}

void RunOutput::check(const measure::Result& head) {
  if (!prints_ || options_.compare_path.empty()) return;
  earlier_.emplace(options_.compare_path, options_.is_forced);
  earlier_->check(head);
}

void RunOutput::print(const std::string& text) const {
  if (!prints_ || options_.is_document_on_stdout()) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

cli::ExitCode RunOutput::finish(const measure::Result& result) const {
  const cli::ExitCode code = result.is_ok ? cli::ExitCode::ok : cli::ExitCode::failed;
  if (!prints_) return code;
  if (options_.csv.is_given) cli::write_document(options_.csv, measure::bench::to_csv_text(result));
  if (!earlier_) return code;
  std::string text;
  const cli::ExitCode compared = earlier_->compare_with(result, &text);
  std::fputs(text.c_str(), options_.is_document_on_stdout() ? stderr : stdout);
  return result.is_ok ? compared : code;
}

}  // namespace gdrkit::transfer::report
