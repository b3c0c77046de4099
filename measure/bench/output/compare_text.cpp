// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The findings of a comparison, as text.
#include <cmath>

#include "cli/interface/exit_code.hpp"
#include "measure/bench/compare_run.hpp"
#include "measure/bench/output/summary.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr std::size_t most_named = 10;

std::string values(const ComparedPoint& point) {
  const std::string& unit = point.series->unit;
  return digits(point.old_observation.point->value) + " -> " + digits(point.new_observation.point->value) + " " + unit;
}

std::string percent_of(double log_ratio) { return cli::format("%+.1f %%", (std::exp(log_ratio) - 1) * 100); }

/// Retrials have their own limit: more measurements, less chance.
std::string line(const char* what, const RetriedPoint& found) {
  const ComparedPoint& point = found.point;
  std::string text =
      cli::format("%-10s  %-46s  %s, %s%s; noise alone: up to %s", what, point.name().c_str(), values(point).c_str(),
                  percent_of(point.change.log_ratio).c_str(),
                  point.change.is_controlled ? " relative to its control" : "", percent_of(point.limit).c_str());
  if (found.trials > 0) {
    text += cli::format("; measured again %zu time%s: %s, noise alone: up to %s", found.trials,
                        found.trials == 1 ? "" : "s", percent_of(found.again.log_ratio).c_str(),
                        percent_of(found.limit).c_str());
  }
  return text + "\n";
}

std::string names(const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t number = 0; number < all.size() && number < most_named; ++number) {
    text += (number == 0 ? "" : ", ") + all[number];
  }
  return all.size() > most_named ? text + cli::format(" and %zu more", all.size() - most_named) : text;
}

std::string baselines_text(const Comparison& comparison) {
  std::vector<std::string> moved;
  for (const ComparedPoint& point : comparison.baselines) {
    if (point.is_slower() || point.is_faster()) {
      moved.push_back(point.name() + " " + percent_of(point.change.log_ratio));
    }
  }
  return moved.empty() ? "" : "baselines that changed (not a regression of gdrkit): " + names(moved) + "\n";
}

std::string unjudged_text(const Comparison& comparison) {
  if (comparison.unjudged.empty()) return "";
  std::vector<std::string> all;
  for (const measure::UnjudgedPoint& point : comparison.unjudged) all.push_back(point.name + " (" + point.why + ")");
  return cli::format("%zu point%s cannot be judged: %s\n", all.size(), all.size() == 1 ? "" : "s", names(all).c_str());
}

std::string verdict_text(const CompareReport& report) {
  const std::size_t points = report.comparison.points.size();
  if (!report.slower.empty()) {
    return cli::format("%zu of %zu points are slower beyond the noise\n", report.slower.size(), points);
  }
  if (report.undecided.empty()) return "nothing is slower beyond the noise\n";
  std::string text =
      "NO VERDICT: nothing is known to be slower, but the following cannot be judged; measure both results again "
      "with more --rounds, or without --quick:\n";
  for (const std::string& clause : report.undecided) text += "  " + clause + "\n";
  return text;
}

}  // namespace

std::string report_text(const CompareReport& report) {
  const Comparison& comparison = report.comparison;
  std::string text = cli::format("\ncompared with %s: %zu points\n", report.old_name.c_str(), comparison.points.size());
  if (comparison.family.excess() > 1) {
    text += cli::format(
        "the two runs differ %.1f times as much as their noise explains; all limits are multiplied by this factor\n",
        comparison.family.excess());
  }
  for (const std::string& difference : report.settings) text += "differs: " + difference + "\n";
  for (const RetriedPoint& found : report.slower) text += line("SLOWER", found);
  for (const RetriedPoint& found : report.unresolved) text += line("unresolved", found);
  std::vector<std::string> cleared;
  for (const RetriedPoint& found : report.cleared) cleared.push_back(found.point.name());
  if (!cleared.empty()) text += "slower in the first measurement, not in the repetition: " + names(cleared) + "\n";
  for (const ComparedPoint& point : comparison.points) {
    if (point.is_faster()) text += line("faster", {point, measure::Outcome::cleared, {}, 0, 0});
  }
  text += baselines_text(comparison);
  if (!comparison.vanished.empty()) text += "only in the old result: " + names(comparison.vanished) + "\n";
  text += unjudged_text(comparison);
  return text + verdict_text(report);
}

}  // namespace gdrkit::measure::bench
