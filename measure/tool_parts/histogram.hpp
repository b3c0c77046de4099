// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Histogram: how often values fall into equal parts of a range.
#pragma once

#include <cstddef>
#include <vector>

namespace gdrkit::measure {

struct HistogramBin {
  double from = 0;
  double to = 0;  ///< exclusive, except in the last one
  std::size_t count = 0;
};

/// `bins` equal parts of [least, most]; values outside are not counted. One bin contains all if least equals most.
[[nodiscard]] std::vector<HistogramBin> make_histogram(const std::vector<double>& values, double least, double most,
                                                       std::size_t bins);

/// Lines with a bar each, up to p99 of `values`, and a line for the rest. Prints nothing without values.
void print_histogram(const std::vector<double>& values, const char* unit);

}  // namespace gdrkit::measure
