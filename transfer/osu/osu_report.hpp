// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Report: the results and conditions of one run, as the lines of OSU's micro-benchmarks 7.5, for scripts that parse
// them, and as a document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/result/result.hpp"
#include "transfer/osu/osu_test.hpp"
#include "transfer/report/run_report.hpp"

namespace gdrkit::transfer::osu {

inline constexpr const char* osu_version = "7.5";

struct LineFormat {
  const OsuTest* test = nullptr;
  std::string engine;
  std::string places;  ///< "DH"
  int pairs = 1;       ///< 0: all ranks together
  int window = 64;
  bool validates = false;
  std::vector<int> percentiles;
  bool is_full = false;  ///< with minimum, maximum and iterations
};

struct OsuRow {
  std::size_t size_bytes = 0;
  double value = 0;                ///< us, or MB/s (10^6)
  double messages_per_second = 0;  ///< of rates
  double least = 0;                ///< minimum of the ranks' averages; only for tests of all ranks, like the next
  double largest = 0;
  int iterations = 0;
  std::uint64_t wrong_bytes = 0;  ///< of all ranks
  std::vector<double> percentiles;
  std::vector<double> rounds;  ///< values of parts of the iterations
};

[[nodiscard]] std::string head_lines(const LineFormat& format);
[[nodiscard]] std::string row_line(const LineFormat& format, const OsuRow& row);
/// The number of wrong bytes and of sizes that have some; "" if there are none.
[[nodiscard]] std::string wrong_line(const std::vector<OsuRow>& rows);

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
