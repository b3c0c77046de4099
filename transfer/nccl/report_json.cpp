// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result_document.hpp"
#include "transfer/common/doctor_json.hpp"
#include "transfer/nccl/report.hpp"

namespace gdrkit::tools::nccl {

void write_report_json(const cli::DocumentOption& option, const Report& report) {
  if (!option.is_given) return;
  cli::Json document = measure::head_json(report.result);
  document["series"] = measure::series_json(report.result.series);
  document["average_bus_bandwidth"] = average_bus_gbps(report.rows);
  document["wrong_elements"] = wrong_elements(report.rows);
  document["paths"] = report.paths;
  document["doctor"] = transfer::doctor_json(report.doctor);
  document["ok"] = report.result.is_ok;
  cli::write_json(option, document);
}

}  // namespace gdrkit::tools::nccl
