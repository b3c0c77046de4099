// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/report/earlier_result.hpp"

#include "measure/bench/compare_run.hpp"
#include "measure/result/result_file.hpp"

namespace gdrkit::tools::report {
namespace {

[[noreturn]] void refuse_earlier(const std::string& why) {
  throw Failure(ExitCode::usage, "gdrkit: --compare: " + why);
}

/// measure/compare takes other libraries for baselines of ours.
measure::Result without_baselines(measure::Result result) {
  for (measure::Series& series : result.series) series.method = "measured";
  return result;
}

measure::Result read_earlier(const std::string& path) {
  try {
    return without_baselines(measure::read_result(path));
  } catch (const measure::BadResult& bad) {
    refuse_earlier(bad.what());
  }
}

}  // namespace

EarlierResult::EarlierResult(const std::string& path, bool is_forced)
    : path_(path), is_forced_(is_forced), old_(read_earlier(path)) {}

void EarlierResult::check(const measure::Result& head) const {
  if (const std::string never = measure::why_no_comparison(old_, head, path_); !never.empty()) refuse_earlier(never);
  std::string differences;
  for (const std::string& one : measure::machine_differences(old_, head)) {
    differences += (differences.empty() ? "" : "; ") + one;
  }
  if (differences.empty() || is_forced_) return;
  refuse_earlier(path_ + " is of another machine: " + differences + "; --force compares them anyway");
}

ExitCode EarlierResult::compare_with(measure::Result current, std::string* text) const {
  current = without_baselines(std::move(current));
  CompareReport report;
  report.old_name = path_ + " (" + old_.date + ")";
  report.settings = measure::setting_differences(old_, current);
  report.comparison = measure::compare(old_, current);
  if (report.comparison.points.empty() && report.comparison.unjudged.empty()) {
    refuse_earlier(path_ + " has no point in common with what was measured, so nothing was compared");
  }
  for (const measure::ComparedPoint& point : report.comparison.points) {
    if (point.is_slower()) report.slower.push_back({point, measure::Outcome::slower, {}, 0, 0});
  }
  report.undecided = report.comparison.undecided();
  *text = printable(report_text(report));
  return report.exit_code();
}

}  // namespace gdrkit::tools::report
