// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "cli/interface/json_document.hpp"
#include "measure/copylat/copylat.hpp"
#include "measure/harness/samples.hpp"
#include "measure/result/result_document.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copylat {
namespace {

cli::Json row_json(const LatencyRow& row) {
  return {{"size_bytes", row.size_bytes}, {"median_us", row.median_us}, {"minimum_us", row.minimum_us}};
}

cli::Json table_json(const LatencyTable& table) {
  return {{"copies_by", table.is_driver ? "driver" : "mapping"},
          {"direction", direction_name(table.direction)},
          {"iterations", table.iterations},
          {"rows", cli::json_list(table.rows, row_json)}};
}

cli::Json raw_row_json(const RawRow& row) {
  return {{"direction", direction_name(row.direction)},
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
          {"raw_rounds_ns", row.raw_ns}};
}

cli::Json raw_json(const CopylatOptions& options, const CopylatReport& report) {
  return {{"kind", report.raw_kind},
          {"rounds", options.raw_rounds},
          {"limit", "max(1.05 * raw, raw + 10 ns)"},
          {"rows_over_limit", report.raw_rows_over_limit()},
          {"rows", cli::json_list(report.raw, raw_row_json)}};
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

measure::Series series_over_size(const std::string& group, const std::string& method, const std::string& title) {
  measure::Series series;
  series.group = group;
  series.method = method;
  series.title = title;
  series.operation = "copy";
  series.x_name = "size_bytes";
  series.unit = "us";
  return series;
}

std::string way_of(Direction direction) {
  return direction == Direction::to_device ? ", to the device" : ", from the device";
}

/// A row contains no rounds, so its noise is unknown.
measure::Series series_of_table(const LatencyTable& table) {
  const std::string direction = direction_name(table.direction);
  const std::string method = table.is_driver ? "memcpy_pageable" : "mapping";
  measure::Series series = series_over_size(
      "tables/" + direction, method, (table.is_driver ? "cuMemcpy" : "through the mapping") + way_of(table.direction));
  series.id = series.group + "/" + method;
  series.direction = direction;
  for (const LatencyRow& row : table.rows) {
    measure::Point point;
    point.x = static_cast<double>(row.size_bytes);
    point.value = row.median_us;
    point.minimum = row.minimum_us;
    point.operations_per_round = static_cast<std::size_t>(std::max(table.iterations / most_buckets, 1));
    series.points.push_back(std::move(point));
  }
  return series;
}

void add_raw(const CopylatReport& report, Direction direction, std::vector<measure::Series>* all) {
  const std::string name = direction_name(direction);
  measure::Series library = series_over_size("raw/" + name, "mapping", "through the mapping" + way_of(direction));
  measure::Series raw = series_over_size("raw/" + name, "raw", "raw loop" + way_of(direction));
  library.id = library.group + "/mapping";
  raw.id = raw.group + "/raw";
  library.control = raw.id;
  library.unit = raw.unit = "ns";
  library.direction = raw.direction = name;
  for (const RawRow& row : report.raw) {
    if (row.direction != direction) continue;
    const auto x = static_cast<double>(row.size_bytes);
    library.points.push_back(measure::make_point(x, row.library_ns, row.iterations));
    raw.points.push_back(measure::make_point(x, row.raw_ns, row.iterations));
  }
  if (library.points.empty()) return;
  all->push_back(std::move(library));
  all->push_back(std::move(raw));
}

struct NamedCost {
  const char* operation;
  std::vector<double> PinCost::*values_us;
};

constexpr NamedCost named_costs[] = {
    {"pin", &PinCost::pin_us},     {"map", &PinCost::map_us},     {"pin_and_map", &PinCost::pin_and_map_us},
    {"unmap", &PinCost::unmap_us}, {"unpin", &PinCost::unpin_us},
};

void add_pin_cost(const PinCost& cost, std::vector<measure::Series>* all) {
  const std::string content = pin_content_name(cost.content);
  for (const NamedCost& named : named_costs) {
    measure::Series series =
        series_over_size("pin_cost/" + content, "mapping", std::string(named.operation) + ", " + content + " content");
    series.id = series.group + "/" + named.operation;
    series.operation = named.operation;
    series.conditions = {{"content", content}};
    series.points.push_back(measure::make_point(static_cast<double>(cost.size_bytes), cost.*named.values_us, 1));
    all->push_back(std::move(series));
  }
}

/// Tables, raw rows and costs as series of the result schema; for a sweep, the sweep's series.
std::vector<measure::Series> copylat_series(const CopylatReport& report) {
  if (report.sweep) return report.sweep->series;
  std::vector<measure::Series> all;
  for (const LatencyTable& table : report.tables) all.push_back(series_of_table(table));
  for (const Direction direction : {Direction::to_device, Direction::from_device}) add_raw(report, direction, &all);
  for (const PinCost& cost : report.pin_costs) add_pin_cost(cost, &all);
  return all;
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
  document["tables"] = cli::json_list(report.tables, table_json);
  if (options.with_raw) document["raw"] = raw_json(options, report);
  if (options.with_pin_cost) document["pin_cost"] = cli::json_list(report.pin_costs, pin_cost_json);
  document["series"] = series_json(copylat_series(report));
  document["ok"] = report.raw_rows_over_limit() == 0;
  cli::write_json(options.common.json, document);
}

}  // namespace gdrkit::measure::copylat
