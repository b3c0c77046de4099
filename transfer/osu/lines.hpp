// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Lines: what OSU's micro-benchmarks 7.5 print, for the scripts that read them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "transfer/osu/osu_test.hpp"

namespace gdrkit::tools::osu {

inline constexpr const char* osu_version = "7.5";

struct LineFormat {
  const OsuTest* test = nullptr;
  std::string engine;
  std::string places;  ///< "DH"
  int pairs = 1;
  int window = 64;
  bool validates = false;
  std::vector<int> percentiles;
};

struct OsuRow {
  std::size_t size_bytes = 0;
  double value = 0;                ///< us, or MB/s (10^6)
  double messages_per_second = 0;  ///< of rates
  bool is_right = true;
  std::vector<double> percentiles;
};

[[nodiscard]] std::string head_lines(const LineFormat& format);
[[nodiscard]] std::string row_line(const LineFormat& format, const OsuRow& row);

}  // namespace gdrkit::tools::osu
