// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/nccl/nccl_report.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>
#include <utility>

#include "gdrkit/gdrkit.h"
#include "transfer/report/result_json.hpp"

namespace gdrkit::transfer::nccl {
namespace {

std::string timing_text(const std::optional<Timing>& measured) {
  if (!measured) return cli::format("  %7s  %6s  %6s  %6s", "N/A", "N/A", "N/A", "N/A");
  const Timing& timing = *measured;
  const std::string wrong = timing.wrong ? std::to_string(*timing.wrong) : "N/A";
  return cli::format("  %7s  %6s  %6s  %6s", fitted_number(timing.time_us, 7, 2).c_str(),
                     fitted_number(timing.algorithm_gbps, 6, 2).c_str(), fitted_number(timing.bus_gbps, 6, 2).c_str(),
                     wrong.c_str());
}

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
    auto table = std::ranges::find_if(tables, has_its_kind);
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

std::string fitted_number(double value, int width, int decimals) {
  for (int places = decimals; places >= 0; --places) {
    std::string text = cli::format("%.*f", places, value);
    if (text.size() <= static_cast<std::size_t>(width)) return text;
  }
  return cli::format("%.1e", value);
}

std::string device_line(int rank, int process_id, const std::string& host, int device, const std::string& pci_bus_id,
                        const std::string& name) {
  // Without the function, like the original.
  const std::string bus = pci_bus_id.substr(0, pci_bus_id.find('.'));
  return cli::format("#  Rank %2d Group %2d Pid %6d on %10s device %2d [%s] %s", rank, 0, process_id, host.c_str(),
                     device, bus.c_str(), name.c_str());
}

std::string head_text(const Options& options, const std::string& test, const std::string& version_field,
                      const std::vector<std::string>& devices) {
  std::string text = cli::format("# gdrkit version %s %s\n# Collective test starting: %s_perf\n", gdrkit_version(),
                                 version_field.c_str(), test.c_str());
  const bool has_factor = options.factor > 1;
  text += cli::format(
      "# nThread 1 nGpus %d minBytes %zu maxBytes %zu step: %zu(%s) warmup iters: %d iters: %d agg iters: %d "
      "validation: %d graph: 0\n#\n# Using devices\n",
      options.gpus, options.smallest_bytes, options.largest_bytes,
      has_factor ? static_cast<std::size_t>(options.factor) : options.step_bytes, has_factor ? "factor" : "bytes",
      options.warmup, options.iterations, options.aggregated, options.check);
  for (const std::string& line : devices) text += line + "\n";
  return text + "#\n" +
         "#                                                              out-of-place                       in-place   "
         "   "
         "    \n"
         "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
         "busbw  "
         "#wrong \n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
         "(GB/s) "
         "        \n";
}

std::string row_text(const Row& row) {
  return cli::format("%12zu  %12zu  %8s  %6s  %6d", row.size_bytes, row.count, row.type.c_str(), row.reduction.c_str(),
                     row.root) +
         timing_text(row.out_of_place) + timing_text(row.in_place) + "\n";
}

double average_bus_gbps(const std::vector<Row>& rows) {
  double sum = 0;
  std::size_t count = 0;
  for (const Row& row : rows) {
    for (const auto& timing : {row.out_of_place, row.in_place}) {
      if (!timing) continue;
      sum += timing->bus_gbps;
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::uint64_t wrong_elements(const std::vector<Row>& rows) {
  std::uint64_t sum = 0;
  for (const Row& row : rows) {
    for (const auto& timing : {row.out_of_place, row.in_place}) sum += timing ? timing->wrong.value_or(0) : 0;
  }
  return sum;
}

std::string foot_text(const std::string& test, const std::vector<Row>& rows) {
  const std::uint64_t wrong = wrong_elements(rows);
  return cli::format("# Out of bounds values : %" PRIu64 " %s\n# Avg bus bandwidth    : %g \n#\n", wrong,
                     wrong == 0 ? "OK" : "FAILED", average_bus_gbps(rows)) +
         cli::format("# Collective test concluded: %s_perf\n#\n", test.c_str());
}

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

void write_report_json(const cli::DocumentOption& option, const Report& report) {
  report::write_result_json(option, report.result,
                            {{"average_bus_bandwidth", average_bus_gbps(report.rows)},
                             {"wrong_elements", wrong_elements(report.rows)},
                             {"paths", report.paths},
                             {"doctor", report::doctor_json(report.doctor)}});
}

}  // namespace gdrkit::transfer::nccl
