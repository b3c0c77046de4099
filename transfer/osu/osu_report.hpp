// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Report: the results and conditions of one run, and its document.
#pragma once

#include <string>
#include <vector>

#include "measure/result/result.hpp"
#include "transfer/osu/osu_lines.hpp"
#include "transfer/report/run_report.hpp"

namespace gdrkit::transfer::osu {

struct Report : report::RunReport {
  LineFormat line;
  int n_ranks = 2;
  std::string path;
  std::vector<OsuRow> rows;
};

/// Requires complete rows.
[[nodiscard]] measure::Series series_of(const Report& report);
/// Does nothing if the option was not given.
void write_report_json(const cli::DocumentOption& option, const Report& report);

}  // namespace gdrkit::transfer::osu
