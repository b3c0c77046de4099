// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Report: all results of one end, and its documents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/result/result.hpp"
#include "transfer/perftest/perftest_lines.hpp"
#include "transfer/perftest/perftest_options.hpp"
#include "transfer/report/run_report.hpp"

namespace gdrkit::transfer::perftest {

struct Report : report::RunReport {
  Settings settings;
  std::string place;  ///< "host" or "gpu"
  std::string path;
  bool is_checked = false;  ///< the other end is gdrkit's
  std::uint64_t wrong = 0;  ///< bytes (for atomics words) at both ends
  std::uint64_t lost = 0;   ///< datagrams
  std::vector<BandwidthRow> bandwidths;
  std::vector<LatencyRow> latencies;
};

[[nodiscard]] measure::Series series_of(const Report& report);
/// The result schema. Does nothing if the option was not given.
void write_report_json(const cli::DocumentOption& option, const Report& report);
/// The document of perftest's --out_json, as valid JSON.
void write_out_json(const std::string& path, const Report& report);

}  // namespace gdrkit::transfer::perftest
