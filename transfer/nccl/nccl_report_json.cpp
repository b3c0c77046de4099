// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/nccl/nccl_report.hpp"
#include "transfer/report/result_json.hpp"

namespace gdrkit::transfer::nccl {

void write_report_json(const cli::DocumentOption& option, const Report& report) {
  report::write_result_json(option, report.result,
                            {{"average_bus_bandwidth", average_bus_gbps(report.rows)},
                             {"wrong_elements", wrong_elements(report.rows)},
                             {"paths", report.paths},
                             {"doctor", report::doctor_json(report.doctor)}});
}

}  // namespace gdrkit::transfer::nccl
