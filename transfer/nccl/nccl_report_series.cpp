// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <utility>

#include "transfer/nccl/nccl_report.hpp"

namespace gdrkit::transfer::nccl {
namespace {

struct Quantity {
  const char* name;
  const char* unit;
  bool is_lower_better;
  double Timing::*value;
};
constexpr Quantity quantities[] = {{"time", "us", true, &Timing::time_us},
                                   {"algbw", "GB/s", false, &Timing::algorithm_gbps},
                                   {"busbw", "GB/s", false, &Timing::bus_gbps}};

struct Place {
  const char* name;
  std::optional<Timing> Row::*timing;
};
constexpr Place places[] = {{"out_of_place", &Row::out_of_place}, {"in_place", &Row::in_place}};

/// Rows of one element type and reduction, in the order of measurement.
std::vector<std::vector<const Row*>> tables_of(const std::vector<Row>& rows) {
  std::vector<std::vector<const Row*>> tables;
  for (const Row& row : rows) {
    const auto has_its_kind = [&](const std::vector<const Row*>& table) {
      return table.front()->type == row.type && table.front()->reduction == row.reduction;
    };
    auto table = std::find_if(tables.begin(), tables.end(), has_its_kind);
    if (table == tables.end()) table = tables.insert(tables.end(), std::vector<const Row*>());
    table->push_back(&row);
  }
  return tables;
}

measure::Series series_of(const Report& report, const std::vector<const Row*>& table, const Place& place,
                          const Quantity& quantity) {
  const Row& first = *table.front();
  measure::Series series;
  series.group = report.test + "/" + first.type + "/" + first.reduction;
  series.id = "nccl/" + series.group + "/" + place.name + "/" + quantity.name + "/" + report.engine;
  series.title = report.test + " of " + first.type + (first.reduction == "none" ? "" : ", " + first.reduction) + ", " +
                 place.name + " (" + report.engine + ")";
  series.operation = report.test;
  series.method = report.engine;
  series.conditions = {{"ranks", std::to_string(report.n_ranks)}, {"place", place.name}, {"quantity", quantity.name}};
  series.x_name = "size_bytes";
  series.unit = quantity.unit;
  series.is_lower_better = quantity.is_lower_better;
  std::map<std::size_t, std::vector<double>> rounds;
  for (const Row* row : table) {
    if (const auto& timing = row->*place.timing) rounds[row->size_bytes].push_back((*timing).*quantity.value);
  }
  for (const auto& [size_bytes, values] : rounds) {
    series.points.push_back(
        measure::make_point(static_cast<double>(size_bytes), values, static_cast<std::size_t>(report.iterations)));
  }
  return series;
}

}  // namespace

std::vector<measure::Series> all_series_of(const Report& report) {
  std::vector<measure::Series> all;
  for (const std::vector<const Row*>& table : tables_of(report.rows)) {
    for (const Place& place : places) {
      for (const Quantity& quantity : quantities) {
        measure::Series series = series_of(report, table, place, quantity);
        if (!series.points.empty()) all.push_back(std::move(series));
      }
    }
  }
  return all;
}

}  // namespace gdrkit::transfer::nccl
