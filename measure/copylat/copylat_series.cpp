// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// copylat's results as series of the result schema, in addition to its own fields of the JSON.
#include <algorithm>
#include <utility>

#include "measure/copylat/copylat.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure::copylat {
namespace {

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

}  // namespace

std::vector<measure::Series> copylat_series(const CopylatReport& report) {
  if (report.sweep) return report.sweep->series;
  std::vector<measure::Series> all;
  for (const LatencyTable& table : report.tables) all.push_back(series_of_table(table));
  for (const Direction direction : {Direction::to_device, Direction::from_device}) add_raw(report, direction, &all);
  for (const PinCost& cost : report.pin_costs) add_pin_cost(cost, &all);
  return all;
}

}  // namespace gdrkit::measure::copylat
