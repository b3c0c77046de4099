// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copylat: types and functions that the front ends of the subcommand share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/copylat/latency.hpp"
#include "measure/copylat/pin_cost.hpp"
#include "measure/copylat/raw_comparison.hpp"
#include "measure/tool_parts/numa_sweep.hpp"
#include "measure/tool_parts/tool_report.hpp"

namespace gdrkit::measure::copylat {

struct CopylatOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  bool with_driver_copies = false;
  std::size_t size_bytes = std::size_t{16} << 20;
  int write_iterations = 10000;
  int read_iterations = 100;
  std::string allocation = allocation_mem_alloc;
  std::string mapping_type = "default";
  bool is_cold = false;
  bool with_raw = false;
  std::string raw_kind = "widest";
  int raw_rounds = 21;
  int raw_batch_us = 4000;
  bool with_pin_cost = false;
  std::size_t pin_size_bytes = std::size_t{4} << 20;
  int pin_repeats = 200;
};

/// One table of the output.
struct LatencyTable {
  Direction direction = Direction::to_device;
  bool is_driver = false;  ///< the driver's copies, not the mapping's
  int iterations = 0;
  std::vector<LatencyRow> rows;
};

struct CopylatReport : ToolReport {
  std::string mapping_type;
  int cpu = -1;  ///< the CPU of the benchmark
  std::string place_line;
  std::vector<LatencyTable> tables;
  std::string raw_kind;
  std::vector<RawRow> raw;
  std::vector<PinCost> pin_costs;
  std::optional<NumaSweep> sweep;  ///< instead of all these, with --numa all

  [[nodiscard]] std::size_t raw_rows_over_limit() const;
};

/// Tables, raw rows and costs as series of the result schema; for a sweep, the sweep's series.
[[nodiscard]] std::vector<measure::Series> copylat_series(const CopylatReport& report);

/// Writes to the destination of --json.
void write_copylat_json(const CopylatOptions& options, const CopylatReport& report);

}  // namespace gdrkit::measure::copylat
