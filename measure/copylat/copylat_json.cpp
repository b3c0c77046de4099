// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "measure/copylat/copylat.hpp"
#include "measure/harness/samples.hpp"
#include "measure/result/result_document.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copylat {
namespace {

cli::Json table_json(const LatencyTable& table) {
  cli::Json rows = cli::Json::array();
  for (const LatencyRow& row : table.rows) {
    rows.push_back({{"size_bytes", row.size_bytes}, {"median_us", row.median_us}, {"minimum_us", row.minimum_us}});
  }
  return {{"copies_by", table.is_driver ? "driver" : "mapping"},
          {"direction", direction_name(table.direction)},
          {"iterations", table.iterations},
          {"rows", rows}};
}

cli::Json raw_json(const CopylatOptions& options, const CopylatReport& report) {
  cli::Json rows = cli::Json::array();
  for (const RawRow& row : report.raw) {
    rows.push_back({{"direction", direction_name(row.direction)},
                    {"size_bytes", row.size_bytes},
                    {"iterations_per_batch", row.iterations},
                    {"library_median_ns", row.library_median_ns},
                    {"raw_median_ns", row.raw_median_ns},
                    {"ratio", row.ratio()},
                    {"single_ratio", row.single_ratio()},
                    {"library_single_median_ns", median(row.library_single_ns)},
                    {"raw_single_median_ns", median(row.raw_single_ns)},
                    {"difference_ns", row.difference_ns()},
                    {"limit_ns", row.limit_ns()},
                    {"is_judged_by_singles", row.is_judged_by_singles},
                    {"is_within_limit", row.is_within_limit()},
                    {"library_rounds_ns", row.library_ns},
                    {"raw_rounds_ns", row.raw_ns}});
  }
  return {{"kind", report.raw_kind},
          {"rounds", options.raw_rounds},
          {"limit", "max(1.05 * raw, raw + 10 ns)"},
          {"rows_over_limit", report.raw_rows_over_limit()},
          {"rows", rows}};
}

cli::Json figures(const std::vector<double>& values_us) {
  return {{"median_us", median(values_us)}, {"minimum_us", minimum(values_us)}, {"p99_us", percentile(values_us, 99)}};
}

cli::Json pin_cost_json(const PinCost& cost) {
  return {{"content", pin_content_name(cost.content)},
          {"size_bytes", cost.size_bytes},
          {"repeats", cost.pin_us.size()},
          {"pin", figures(cost.pin_us)},
          {"map", figures(cost.map_us)},
          {"pin_and_map", figures(cost.pin_and_map_us)},
          {"unmap", figures(cost.unmap_us)},
          {"unpin", figures(cost.unpin_us)}};
}

}  // namespace

void write_copylat_json(const CopylatOptions& options, const CopylatReport& report) {
  cli::Json document =
      cli::json_head("copylat", report.machine, report.names.backend, report.is_emulated, report.place);
  document["store_kernel"] = report.names.store_kernel;
  document["load_kernel"] = report.names.load_kernel;
  document["mapping_type"] = report.mapping_type;
  document["allocation"] = options.allocation;
  document["timer"] = platform::timer_name;
  document["cpu"] = report.cpu;
  document["is_cold_cache"] = options.is_cold;
  document["tables"] = cli::Json::array();
  for (const LatencyTable& table : report.tables) document["tables"].push_back(table_json(table));
  if (options.with_raw) document["raw"] = raw_json(options, report);
  if (options.with_pin_cost) {
    document["pin_cost"] = cli::Json::array();
    for (const PinCost& cost : report.pin_costs) document["pin_cost"].push_back(pin_cost_json(cost));
  }
  document["series"] = series_json(copylat_series(report));
  document["ok"] = report.raw_rows_over_limit() == 0;
  cli::write_json(options.common.json, document);
}

}  // namespace gdrkit::measure::copylat
