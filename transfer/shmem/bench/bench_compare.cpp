// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/bench_compare.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "measure/bench/compare_run.hpp"
#include "measure/compare/retrial.hpp"
#include "measure/result/result_file.hpp"
#include "transfer/shmem/bench/bench_report.hpp"

namespace gdrkit::tools::shmem {
namespace {

[[noreturn]] void refuse_comparison(const std::string& why) {
  throw Failure(ExitCode::usage, "gdrkit shmem bench: " + why);
}

measure::Result read_old(const std::string& path) {
  try {
    return measure::read_result(path);
  } catch (const measure::BadResult& bad) {
    refuse_comparison(bad.what());
  }
}

/// Cases and sizes that were not asked for now are not gone.
measure::Result narrowed_to(const BenchOptions& options, measure::Result old) {
  std::vector<std::string> names = {"start"};
  for (const std::size_t number : chosen_cases(options)) names.emplace_back(all_cases()[number].name);
  std::vector<measure::Series>& series = old.series;
  series.erase(std::remove_if(series.begin(), series.end(),
                              [&](const measure::Series& one) {
                                return std::find(names.begin(), names.end(), one.group) == names.end();
                              }),
               series.end());
  return old;
}

std::string pes_of(const measure::Result& result) {
  const auto found = result.settings.find("pes");
  return found == result.settings.end() ? "" : found->second;
}

}  // namespace

BenchCompare::BenchCompare(const BenchOptions& options)
    : options_(options), old_(narrowed_to(options, read_old(options.compare_path))) {}

void BenchCompare::check(const measure::Result& head) const {
  const std::string never = measure::why_no_comparison(old_, head, options_.compare_path);
  if (!never.empty()) refuse_comparison(never);
  if (pes_of(old_) != pes_of(head)) {
    refuse_comparison(options_.compare_path + " is of " + pes_of(old_) + " PEs; measure with --pes " + pes_of(old_));
  }
  std::string differences;
  for (const std::string& one : measure::machine_differences(old_, head)) {
    differences += (differences.empty() ? "" : "; ") + one;
  }
  if (differences.empty() || options_.is_forced) return;
  refuse_comparison(options_.compare_path + " is of another machine: " + differences +
                    "; --force compares them anyway");
}

ExitCode BenchCompare::compare_with(const measure::Result& current, BenchRun* run) const {
  CompareReport report;
  report.old_name = options_.compare_path + " (" + old_.date + ")";
  report.settings = measure::setting_differences(old_, current);
  report.comparison = measure::compare(old_, current);
  if (report.comparison.points.empty() && report.comparison.unjudged.empty()) {
    refuse_comparison(options_.compare_path +
                      " has no point in common with what was measured, so nothing was compared");
  }
  if (options_.has_own_sizes()) report.comparison.vanished.clear();
  for (measure::RetriedPoint& found : measure::retry_suspects(
           report.comparison,
           [&](const std::vector<const measure::ComparedPoint*>& suspects) { return run->measure_again(suspects); })) {
    const bool is_slower = found.outcome == measure::Outcome::slower;
    const bool is_cleared = found.outcome == measure::Outcome::cleared;
    if (!is_slower && !is_cleared && found.point.is_slower()) {
      report.undecided.push_back(found.point.name() + " could not be measured again");
    }
    (is_slower ? report.slower : is_cleared ? report.cleared : report.unresolved).push_back(std::move(found));
  }
  for (std::string& clause : report.comparison.undecided()) report.undecided.push_back(std::move(clause));
  std::fputs(printable(report_text(report)).c_str(), options_.json.is_on_stdout() ? stderr : stdout);
  return report.exit_code();
}

}  // namespace gdrkit::tools::shmem
