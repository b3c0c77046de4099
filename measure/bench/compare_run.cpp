// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/compare_run.hpp"

#include <algorithm>
#include <utility>

#include "cli/interface/wrapped_text.hpp"
#include "gdrapi.h"
#include "measure/result/result_file.hpp"

namespace gdrkit::measure::bench {
namespace {

bool is_of_section(const Series& series, const std::vector<std::string>& sections) {
  return std::ranges::any_of(sections,
                             [&](const std::string& section) { return series.id.starts_with(section + "/"); });
}

bool is_of_sizes(double x, const std::vector<std::size_t>& sizes) {
  return std::ranges::any_of(sizes, [&](std::size_t size) {
    // Pins consist of whole pages.
    const std::size_t whole_pages = (size + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
    return x == static_cast<double>(size) || x == static_cast<double>(whole_pages);
  });
}

void sort_out(std::vector<RetriedPoint> retried, CompareReport* report) {
  for (RetriedPoint& found : retried) {
    std::vector<RetriedPoint>& list = found.outcome == Outcome::slower    ? report->slower
                                      : found.outcome == Outcome::cleared ? report->cleared
                                                                          : report->unresolved;
    list.push_back(std::move(found));
  }
}

}  // namespace

Result read_result_file(const std::string& path) {
  try {
    return read_result(path);
  } catch (const BadResult& bad) {
    cli::reject(std::string("gdrkit bench: ") + bad.what());
  }
}

Result narrowed(Result result, const BenchOptions& options) {
  std::vector<Series> kept;
  for (Series& series : result.series) {
    if (!is_of_section(series, options.sections)) continue;
    if (!options.sizes.empty() && series.x_name == "size_bytes") {
      std::erase_if(series.points, [&](const Point& point) { return !is_of_sizes(point.x, options.sizes); });
    }
    if (!series.points.empty()) kept.push_back(std::move(series));
  }
  result.series = std::move(kept);
  return result;
}

CompareRun::CompareRun(const BenchOptions& options)
    : options_(options), old_(narrowed(read_result_file(options.compare_path), options)) {}

void CompareRun::check(const Result& head) const {
  const std::string never = why_no_comparison(old_, head, options_.compare_path);
  if (!never.empty()) cli::reject("gdrkit bench: " + never);
  if (old_.series.empty()) {
    cli::reject("gdrkit bench: cannot compare with " + options_.compare_path +
                ": it has no values for the requested sections and sizes; request others, or omit --only and --sizes");
  }
  const std::vector<std::string> differences = machine_differences(old_, head);
  if (differences.empty() || options_.is_forced) return;
  cli::reject("gdrkit bench: " + options_.compare_path + " was measured on another machine: " +
              cli::joined(differences, "; ") + "; use --force to compare them anyway");
}

CompareReport CompareRun::compare_with(const Result& current, Session* session) {
  check(current);
  CompareReport report;
  report.old_name = options_.compare_path + " (" + old_.date + ")";
  report.settings = setting_differences(old_, current);
  report.comparison = compare(old_, current);
  if (report.comparison.points.empty() && report.comparison.unjudged.empty()) {
    cli::reject("gdrkit bench: cannot compare with " + options_.compare_path +
                ": no section and size was measured in both results");
  }
  // A quick run measures fewer sizes, and --sizes rounds or omits some. Those points are not missing.
  if (session != nullptr && (options_.is_quick || !options_.sizes.empty())) report.comparison.vanished.clear();
  if (session == nullptr) {
    for (const ComparedPoint& point : report.comparison.points) {
      if (point.is_slower()) report.slower.push_back({point, Outcome::slower, {}, 0, 0});
    }
  } else {
    sort_out(retry_suspects(
                 report.comparison,
                 [&](const std::vector<const ComparedPoint*>& suspects) { return session->measure_again(suspects); }),
             &report);
    session->end_progress();
  }
  report.undecided = report.comparison.undecided();
  for (const RetriedPoint& found : report.unresolved) {
    if (found.point.is_slower()) report.undecided.push_back(found.point.name() + " could not be measured again");
  }
  return report;
}

}  // namespace gdrkit::measure::bench
