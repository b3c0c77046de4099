// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result_document.hpp"
#include "transfer/nccl/report.hpp"
#include "transfer/report/doctor_json.hpp"

namespace gdrkit::tools::nccl {

void write_report_json(const DocumentOption& option, const Report& report) {
  if (!option.is_given) return;
  Json document = measure::head_json(report.result);
  document["series"] = measure::series_json(report.result.series);
  document["average_bus_bandwidth"] = average_bus_gbps(report.rows);
  document["wrong_elements"] = wrong_elements(report.rows);
  document["paths"] = report.paths;
  document["doctor"] = report::doctor_json(report.doctor);
  document["ok"] = report.result.is_ok;
  write_json(option, document);
}

}  // namespace gdrkit::tools::nccl
