// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <utility>

#include "transfer/perftest/perftest_report.hpp"

namespace gdrkit::transfer::perftest {

measure::Series series_of(const Report& report) {
  const Settings& settings = report.settings;
  measure::Series series;
  series.group = std::string(settings.test->name) + "/" + report.place;
  series.id = "perftest/" + series.group + "/" + settings.connection + (settings.is_bidirectional ? "/both" : "");
  series.title = title_of(settings) + " (" + settings.connection + ", " + report.place + " memory)";
  series.operation = settings.test->name;
  series.method = "verbs";
  series.conditions = {
      {"connection", settings.connection}, {"memory", report.place}, {"queue_pairs", std::to_string(settings.pairs)}};
  series.x_name = "size_bytes";
  series.unit = settings.test->is_latency() ? "us" : "GB/s";
  series.is_lower_better = settings.test->is_latency();
  for (const BandwidthRow& row : report.bandwidths) {
    std::vector<double> rounds = row.rounds;
    if (rounds.empty()) rounds = {row.average_bytes_per_s};
    for (double& one : rounds) one /= 1e9;
    const std::size_t operations = static_cast<std::size_t>(row.iterations) / rounds.size();
    series.points.push_back(measure::make_point(static_cast<double>(row.size_bytes), std::move(rounds), operations));
  }
  for (const LatencyRow& row : report.latencies) {
    series.points.push_back(measure::make_point(static_cast<double>(row.size_bytes), row.rounds,
                                                static_cast<std::size_t>(row.iterations) / row.rounds.size()));
    series.points.back().single = measure::Single{
        static_cast<std::size_t>(row.iterations), row.minimum, row.typical, row.p99, row.p999, row.maximum};
  }
  return series;
}

}  // namespace gdrkit::transfer::perftest
