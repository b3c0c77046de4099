// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a comparison found, as text.
#include <cmath>

#include "cli/common/exit_code.hpp"
#include "measure/bench/compare_run.hpp"
#include "measure/bench/output/summary.hpp"

namespace gdrkit::tools {
namespace {

constexpr std::size_t most_named = 10;

std::string values(const ComparedPoint& point) {
  const std::string& unit = point.series->unit;
  return digits(point.old_look.point->value) + " -> " + digits(point.new_look.point->value) + " " + unit;
}

std::string percent_of(double log_ratio) { return format("%+.1f %%", (std::exp(log_ratio) - 1) * 100); }

/// `points`: how many were compared. The limit of the trials is their own: more looks, less chance.
std::string line(const char* what, const ConfirmedPoint& found, std::size_t points) {
  const ComparedPoint& point = found.point;
  std::string text = format("%-10s  %-46s  %s, %s%s; chance alone: up to %s", what, point.name().c_str(),
                            values(point).c_str(), percent_of(point.change.log_ratio).c_str(),
                            point.change.is_controlled ? " beside its control" : "", percent_of(point.limit).c_str());
  if (found.trials > 0) {
    text += format("; measured again %zu time%s: %s, chance alone: up to %s", found.trials,
                   found.trials == 1 ? "" : "s", percent_of(found.again.log_ratio).c_str(),
                   percent_of(measure::limit_among(found.again, points)).c_str());
  }
  return text + "\n";
}

std::string names(const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t number = 0; number < all.size() && number < most_named; ++number) {
    text += (number == 0 ? "" : ", ") + all[number];
  }
  return all.size() > most_named ? text + format(" and %zu more", all.size() - most_named) : text;
}

std::string baselines_text(const Comparison& comparison) {
  std::vector<std::string> moved;
  for (const ComparedPoint& point : comparison.baselines) {
    if (point.is_slower() || point.is_faster()) {
      moved.push_back(point.name() + " " + percent_of(point.change.log_ratio));
    }
  }
  return moved.empty() ? "" : "baselines that moved (no verdict on gdrkit): " + names(moved) + "\n";
}

}  // namespace

std::string report_text(const CompareReport& report) {
  const Comparison& comparison = report.comparison;
  std::string text = format("\ncompared with %s: %zu points\n", report.old_name.c_str(), comparison.points.size());
  for (const std::string& difference : report.settings) text += "differs: " + difference + "\n";
  for (const ConfirmedPoint& found : report.slower) text += line("SLOWER", found, comparison.points.size());
  for (const ConfirmedPoint& found : report.unresolved) text += line("unresolved", found, comparison.points.size());
  std::vector<std::string> cleared;
  for (const ConfirmedPoint& found : report.cleared) cleared.push_back(found.point.name());
  if (!cleared.empty()) text += "stood out once, and not again: " + names(cleared) + "\n";
  for (const ComparedPoint& point : comparison.points) {
    if (point.is_faster()) text += line("faster", {point, {}, 0}, comparison.points.size());
  }
  text += baselines_text(comparison);
  if (!comparison.vanished.empty()) text += "only in the old result: " + names(comparison.vanished) + "\n";
  if (report.is_ok()) return text + "nothing is slower beyond the noise\n";
  return text +
         format("%zu of %zu points are slower beyond the noise\n", report.slower.size(), comparison.points.size());
}

}  // namespace gdrkit::tools
