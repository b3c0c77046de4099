// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/report/run_report.hpp"

#include <cstdio>
#include <utility>

#include "cli/interface/wrapped_text.hpp"
#include "measure/bench/output/csv.hpp"
#include "measure/result/result_file.hpp"

namespace gdrkit::transfer::report {
namespace {

/// measure/compare treats other libraries as baselines of ours.
measure::Result without_baselines(measure::Result result) {
  for (measure::Series& series : result.series) series.method = "measured";
  return result;
}

}  // namespace

EarlierResult::EarlierResult(std::string path, bool is_forced, std::string who)
    : path_(std::move(path)), is_forced_(is_forced), who_(std::move(who)) {
  try {
    old_ = measure::read_result(path_);
  } catch (const measure::BadResult& bad) {
    refuse(bad.what());
  }
}

void EarlierResult::refuse(const std::string& why) const { cli::reject(who_ + ": " + why); }

void EarlierResult::check(const measure::Result& head) const {
  if (const std::string never = measure::why_no_comparison(old_, head, path_); !never.empty()) refuse(never);
  const std::string differences = cli::joined(measure::machine_differences(old_, head), "; ");
  if (differences.empty() || is_forced_) return;
  refuse(path_ + " was measured on another machine: " + differences + "; use --force to compare anyway");
}

measure::bench::CompareReport EarlierResult::compare(const measure::Result& current) const {
  measure::bench::CompareReport report;
  report.old_name = path_ + " (" + old_.date + ")";
  report.settings = measure::setting_differences(old_, current);
  report.comparison = measure::compare(old_, current);
  if (report.comparison.points.empty() && report.comparison.unjudged.empty()) {
    refuse("cannot compare with " + path_ +
           ": it contains none of the measured tests and sizes; measure the same tests and sizes");
  }
  return report;
}

cli::ExitCode EarlierResult::compare_with(measure::Result current, std::string* text) const {
  EarlierResult old = *this;
  old.old_ = without_baselines(old.old_);
  current = without_baselines(std::move(current));
  measure::bench::CompareReport report = old.compare(current);
  for (const measure::ComparedPoint& point : report.comparison.points) {
    if (point.is_slower()) report.slower.push_back({point, measure::Outcome::slower, {}, 0, 0});
  }
  report.undecided = report.comparison.undecided();
  *text = cli::printable(measure::bench::report_text(report));
  return report.exit_code();
}

void describe_run(measure::Result* result, const char* tool, bool is_emulated, const platform::Device* device) {
  static_cast<cli::DocumentHead&>(*result) = cli::head_of(tool, platform::describe_machine(device), "", is_emulated);
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
