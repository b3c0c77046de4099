// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Report: the results and conditions of one run, and its document.
#pragma once

#include <string>
#include <vector>

#include "measure/result/result.hpp"
#include "transfer/nccl/table.hpp"
#include "transfer/report/run_report.hpp"

namespace gdrkit::transfer::nccl {

struct Report : report::RunReport {
  std::string test;
  std::string engine;
  int n_ranks = 1;
  int iterations = 1;              ///< operations of one measurement
  std::vector<Row> rows;           ///< in the order of measurement; with cycles several of one size
  std::vector<std::string> paths;  ///< by process
};

/// Of the rows.
[[nodiscard]] std::vector<measure::Series> all_series_of(const Report& report);
/// Does nothing if the option was not given.
void write_report_json(const cli::DocumentOption& option, const Report& report);

}  // namespace gdrkit::transfer::nccl
