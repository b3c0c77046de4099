// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Report: the results and conditions of one run, as the lines that nccl-tests (2.17 and newer) prints, for scripts that
// parse them, and as a document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/result/result.hpp"
#include "transfer/nccl/nccl_options.hpp"
#include "transfer/report/run_report.hpp"

namespace gdrkit::transfer::nccl {

/// One measurement: out of place or in place.
struct Timing {
  double time_us = 0;
  double algorithm_gbps = 0;
  double bus_gbps = 0;
  std::optional<std::uint64_t> wrong;  ///< elements; empty: not checked
};

struct Row {
  std::size_t size_bytes = 0;
  std::size_t count = 0;
  std::string type;
  std::string reduction;
  int root = -1;
  std::optional<Timing> out_of_place;
  std::optional<Timing> in_place;  ///< empty: not supported by the library
};

/// "123.45", "1234.5", "12345" or "1.2e+09": as many decimals as fit into `width` columns, `decimals` at most.
[[nodiscard]] std::string fitted_number(double value, int width, int decimals);

/// `devices`: for each rank, as returned by device_line().
[[nodiscard]] std::string head_text(const Options& options, const std::string& test, const std::string& version_field,
                                    const std::vector<std::string>& devices);
[[nodiscard]] std::string device_line(int rank, int process_id, const std::string& host, int device,
                                      const std::string& pci_bus_id, const std::string& name);
[[nodiscard]] std::string row_text(const Row& row);
[[nodiscard]] std::string foot_text(const std::string& test, const std::vector<Row>& rows);

/// Over all rows, out of place and in place.
[[nodiscard]] double average_bus_gbps(const std::vector<Row>& rows);
[[nodiscard]] std::uint64_t wrong_elements(const std::vector<Row>& rows);

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
