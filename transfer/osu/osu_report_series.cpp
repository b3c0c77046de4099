// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "transfer/osu/osu_report.hpp"

namespace gdrkit::transfer::osu {

measure::Series series_of(const Report& report) {
  const bool is_latency = report.line.test->value == Value::latency;
  measure::Series series;
  const bool is_of_all = report.line.test->is_of_all_ranks();
  series.group = std::string(report.line.test->name) + "/" + report.line.places;
  if (is_of_all) series.group += "/" + std::to_string(report.n_ranks);
  series.id = "osu/" + series.group + "/" + report.line.engine;
  series.title = std::string("osu_") + report.line.test->name + " " + report.line.places[0] + " " +
                 (is_of_all ? "of " + std::to_string(report.n_ranks) + " ranks" : report.line.places.substr(1)) + " (" +
                 report.line.engine + ")";
  series.operation = report.line.test->name;
  series.method = report.line.engine;
  series.conditions = {{"places", report.line.places}, {"pairs", std::to_string(report.line.pairs)}};
  if (is_of_all) series.conditions = {{"places", report.line.places}, {"ranks", std::to_string(report.n_ranks)}};
  series.x_name = "size_bytes";
  series.unit = is_latency ? "us" : "GB/s";
  series.is_lower_better = is_latency;
  for (const OsuRow& row : report.rows) {
    std::vector<double> rounds = row.rounds;
    for (double& value : rounds) value = is_latency ? value : value / 1000;
    const std::size_t operations = static_cast<std::size_t>(row.iterations) / std::max<std::size_t>(rounds.size(), 1);
    series.points.push_back(measure::make_point(static_cast<double>(row.size_bytes), std::move(rounds), operations));
  }
  return series;
}

}  // namespace gdrkit::transfer::osu
