// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "measure/copybw/copybw.hpp"
#include "measure/result/result_document.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copybw {
namespace {

/// One value per size: there are no rounds, so the noise is unknown.
std::vector<measure::Series> series_of(const CopybwOptions& options, const CopybwReport& report) {
  if (report.sweep) return report.sweep->series;
  std::vector<measure::Series> all;
  for (const bool is_write : {true, false}) {
    const std::string direction = is_write ? "to_device" : "from_device";
    measure::Series series;
    series.id = "bandwidth/" + direction;
    series.group = "bandwidth";
    series.title = std::string("through the mapping, ") + (is_write ? "to the device" : "from the device");
    series.operation = "copy";
    series.direction = direction;
    series.method = "mapping";
    series.x_name = "size_bytes";
    series.unit = "MiB/s";
    series.is_lower_better = false;
    for (const BandwidthResult& result : report.results) {
      series.points.push_back(measure::make_point(
          static_cast<double>(result.size_bytes), {is_write ? result.write_mib_per_s : result.read_mib_per_s},
          static_cast<std::size_t>(is_write ? options.write_iterations : options.read_iterations)));
    }
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace

void write_copybw_json(const CopybwOptions& options, const CopybwReport& report) {
  cli::Json document = cli::json_head("copybw", report.machine, report.names.backend, report.is_emulated, report.place);
  document["store_kernel"] = report.names.store_kernel;
  document["load_kernel"] = report.names.load_kernel;
  document["mapping_type"] = report.mapping_type;
  document["allocation"] = options.allocation;
  document["timer"] = platform::timer_name;
  document["write_iterations"] = options.write_iterations;
  document["read_iterations"] = options.read_iterations;
  bool is_ok = true;
  document["results"] = cli::Json::array();
  for (const BandwidthResult& result : report.results) {
    document["results"].push_back({{"size_bytes", result.size_bytes},
                                   {"offset_bytes", result.offset_bytes},
                                   {"write_mib_per_s", result.write_mib_per_s},
                                   {"read_mib_per_s", result.read_mib_per_s},
                                   {"is_verified", result.is_verified()}});
    is_ok = is_ok && result.is_verified();
  }
  document["series"] = series_json(series_of(options, report));
  document["ok"] = is_ok;
  cli::write_json(options.common.json, document);
}

}  // namespace gdrkit::measure::copybw
