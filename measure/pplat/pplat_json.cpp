// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "measure/pplat/pplat.hpp"
#include "measure/result/result_document.hpp"

namespace gdrkit::measure::pplat {
namespace {

Result result_of(const PplatOptions& options, const PplatReport& report) {
  Result result = measure::result_of("pplat", report);
  result.settings = {{"allocation", options.allocation},
                     {"mapping_type", report.mapping_type},
                     {"store_kernel", report.names.store_kernel},
                     {"load_kernel", report.names.load_kernel},
                     {"mode", options.mode == "1" ? "gpu_first" : "cpu_first"},
                     {"gpu_flag", options.gpu_flag},
                     {"cpu_flag", options.cpu_flag},
                     {"data", options.data},
                     {"blocks", std::to_string(options.data_bytes == 0 ? 1 : options.blocks)},
                     {"threads", std::to_string(options.data_bytes == 0 ? 1 : options.threads)}};
  for (const Measured& way : report.ways) {
    Series series;
    series.id = "ping_pong/" + way.name;
    series.group = "ping_pong";
    series.title = "round trip, " + way.name;
    series.operation = "ping_pong";
    series.method = way.name;
    series.x_name = "size_bytes";
    series.unit = "us";
    if (way.name == "mapping" && report.ways.size() > 1) series.control = "ping_pong/raw";
    series.points.push_back(make_point(static_cast<double>(options.data_bytes + 4), way, 1000));
    result.series.push_back(std::move(series));
  }
  if (report.sweep) result.series = report.sweep->series;
  return result;
}

}  // namespace

void write_pplat_json(const PplatOptions& options, const PplatReport& report) {
  const Result result = result_of(options, report);
  cli::Json document = head_json(result);
  document["iterations"] = options.iterations;
  document["is_cut_short"] = report.is_cut_short;
  if (report.ways.size() > 1) {
    document["raw"] = {{"ratio", report.ratio_to_raw()},
                       {"limit", PplatReport::raw_limit},
                       {"is_within_limit", report.is_within_limit()}};
  }
  document["series"] = series_json(result.series);
  document["ok"] = report.is_within_limit() || report.is_emulated;
  cli::write_json(options.common.json, document);
}

}  // namespace gdrkit::measure::pplat
