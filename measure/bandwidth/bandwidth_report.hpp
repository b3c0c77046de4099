// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Report: the results of a run of the tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/bandwidth/cell_run.hpp"
#include "measure/result/result.hpp"
#include "measure/tool_parts/numa_sweep.hpp"

namespace gdrkit::measure::bandwidth {

struct BandwidthOptions {
  static constexpr std::size_t usual = SIZE_MAX;
  std::size_t buffer_bytes = usual;  ///< default: 512 MiB, on the emulated device 1 MiB
  int samples = 3;
  int loops = 16;
  bool uses_mean = false;
  bool skips_verification = false;
  bool is_verbose = false;
  bool lists = false;
  bool prints_nvbandwidth_json = false;
  cli::DocumentOption json;
  bool is_quiet = false;
  std::vector<std::string> names;
  std::vector<std::string> prefixes;
  cli::NumaOptions numa;
};

enum class Status { passed, waived, error };

struct TestReport {
  const TestCase* test = nullptr;
  Status status = Status::passed;
  std::string reason;  ///< reason of waived and error
  std::string note;    ///< pairs that are missing in a matrix
  int rows = 0;
  int columns = 0;
  /// One matrix; three for both directions of pairs: each direction, and their sum. x is the row, y the column.
  std::vector<measure::Series> matrices;
};

struct Report {
  bool is_emulated = false;
  std::string note;  ///< of the emulated device
  std::size_t buffer_bytes = 0;
  platform::Machine machine;
  std::vector<std::string> devices;  ///< "NVIDIA H200 (00000000:3b:00)"
  platform::Placed placed;           ///< near the first GPU
  std::vector<TestReport> tests;
  std::optional<NumaSweep> sweep;  ///< instead of tests, with --numa all

  [[nodiscard]] bool has(Status status) const;
};

/// Runs one test on all GPUs. Failures are recorded in the report.
[[nodiscard]] TestReport run_test(const TestCase& test, Gpus* gpus, CellRun* run, const BandwidthOptions& options);
/// Creates the matrices from the cells' values; public for tests without GPUs.
[[nodiscard]] std::vector<measure::Series> make_matrices(const TestCase& test, const std::vector<CellValues>& cells,
                                                         const BandwidthOptions& options, std::size_t buffer_bytes);

struct MatrixFigures {
  double sum = 0;
  double minimum = 0;
  double maximum = 0;
  double average = 0;
};
[[nodiscard]] MatrixFigures figures_of(const measure::Series& matrix);

void print_list();
void print_head(const Report& report, const BandwidthOptions& options);
void print_test_begin(const TestCase& test);
void print_test_end(const TestReport& report, const BandwidthOptions& options);
/// The document of docs/result-schema.md, and that of nvbandwidth's format.
void write_bandwidth_json(const Report& report, const BandwidthOptions& options);
void print_nvbandwidth_json(const Report& report, const BandwidthOptions& options);

}  // namespace gdrkit::measure::bandwidth
