// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Histogram: how often values fall into equal parts of a range.
#pragma once

#include <cstddef>
#include <vector>

namespace gdrkit::measure {

struct HistogramBin {
  double from = 0;
  double to = 0;  ///< not contained, but in the last one
  std::size_t count = 0;
};

/// `bins` equal parts of [least, most]; values outside are not counted. One bin holds all where least equals most.
[[nodiscard]] std::vector<HistogramBin> make_histogram(const std::vector<double>& values, double least, double most,
                                                       std::size_t bins);

/// Lines with a bar each, up to p99 of `values`, and what lies beyond. Nothing of no values.
void print_histogram(const std::vector<double>& values, const char* unit);

}  // namespace gdrkit::measure
