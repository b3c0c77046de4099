// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Report: everything that one run measured, and its document.
#pragma once

#include <string>
#include <vector>

#include "cli/common/document_option.hpp"
#include "measure/result/result.hpp"
#include "transfer/nccl/table.hpp"
#include "transfer/report/doctor_advice.hpp"

namespace gdrkit::tools::nccl {

struct Report {
  measure::Result result;  ///< its series are made of the rows
  std::string test;
  std::string engine;
  int n_ranks = 1;
  int iterations = 1;              ///< operations of one measurement
  std::vector<Row> rows;           ///< in the order of measurement; with cycles several of one size
  std::vector<std::string> paths;  ///< by process
  report::DoctorAdvice doctor;
};

/// Of the rows.
[[nodiscard]] std::vector<measure::Series> all_series_of(const Report& report);
/// Nothing when the option was not given.
void write_report_json(const DocumentOption& option, const Report& report);

}  // namespace gdrkit::tools::nccl
