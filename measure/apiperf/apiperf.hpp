// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Apiperf: types and functions that the front ends of the subcommand share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/apiperf/call_cost.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "measure/tool_parts/numa_sweep.hpp"
#include "measure/tool_parts/tool_report.hpp"

namespace gdrkit::measure::apiperf {

struct ApiperfOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  std::size_t size_bytes = std::size_t{16} << 20;
  int iterations = 100;
  int warm_up = 10;
  std::string allocation = allocation_mem_alloc;
  std::string mapping_type = "default";
};

struct ApiperfReport : ToolReport {
  std::vector<CallCost> costs;
  std::optional<NumaSweep> sweep;
};

/// GDRCopy's lines for one size.
void print_gdrcopy_cost(const CallCost& cost);
/// A row for each call.
void print_cost_head();
void print_cost_rows(const CallCost& cost);

/// Writes to the destination of --json.
void write_apiperf_json(const ApiperfOptions& options, const ApiperfReport& report);

}  // namespace gdrkit::measure::apiperf
