// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copybw: types and functions that the front ends of the subcommand share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/copybw/copy_bandwidth.hpp"
#include "measure/tool_parts/numa_sweep.hpp"
#include "measure/tool_parts/tool_report.hpp"

namespace gdrkit::measure::copybw {

struct CopybwOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  std::size_t size_bytes = 128 * 1024;
  std::size_t copy_size_bytes = 0;  ///< 0: the whole buffer
  std::size_t offset_bytes = 0;
  bool is_sweep = false;
  int write_iterations = 10000;
  int read_iterations = 100;
  std::string allocation = allocation_mem_alloc;
  std::string mapping_type = "default";
};

struct CopybwReport : ToolReport {
  std::string mapping_type;
  std::vector<BandwidthResult> results;
  std::optional<NumaSweep> sweep;  ///< instead of results, with --numa all
};

/// The copy sizes of the options. Throws Failure(usage) for options that conflict.
[[nodiscard]] std::vector<std::size_t> copy_sizes(const CopybwOptions& options);

/// Writes to the destination of --json.
void write_copybw_json(const CopybwOptions& options, const CopybwReport& report);

}  // namespace gdrkit::measure::copybw
