// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>

#include "cli/interface/json_document.hpp"
#include "measure/apiperf/apiperf.hpp"
#include "measure/result/result_document.hpp"

namespace gdrkit::measure::apiperf {
namespace {

constexpr std::size_t most_rounds = 20;

/// Calls of one kind, in the order of execution. Rounds are equal parts of them.
Measured in_rounds(const std::vector<double>& us) {
  Measured measured;
  const std::size_t rounds = std::min(most_rounds, us.size());
  measured.operations_per_round = us.size() / rounds;
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto begin = us.begin() + static_cast<std::ptrdiff_t>(us.size() * round / rounds);
    const auto end = us.begin() + static_cast<std::ptrdiff_t>(us.size() * (round + 1) / rounds);
    measured.round_ns.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin) * 1000);
  }
  for (const double value : us) measured.single_ns.push_back(value * 1000);
  return measured;
}

}  // namespace

void write_apiperf_json(const ApiperfOptions& options, const ApiperfReport& report) {
  Result result = result_of("apiperf", report);
  result.settings = {{"allocation", options.allocation},
                     {"mapping_type", options.mapping_type},
                     {"iterations", std::to_string(options.iterations)},
                     {"warm_up", std::to_string(options.warm_up)}};
  for (const Call call : calls) {
    Series series;
    series.id = std::string(call_name(call)) + "/mapping";
    series.group = "calls";
    series.title = call_name(call);
    series.operation = call_name(call);
    series.method = "mapping";
    series.x_name = "size_bytes";
    series.unit = "us";
    for (const CallCost& cost : report.costs) {
      series.points.push_back(make_point(static_cast<double>(cost.size_bytes), in_rounds(cost.of(call)), 1000));
    }
    result.series.push_back(std::move(series));
  }
  if (report.sweep) result.series = report.sweep->series;
  cli::Json document = head_json(result);
  document["series"] = series_json(result.series);
  document["ok"] = true;
  cli::write_json(options.common.json, document);
}

}  // namespace gdrkit::measure::apiperf
