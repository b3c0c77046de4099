// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/tool_parts/histogram.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "measure/harness/samples.hpp"

namespace gdrkit::measure {

std::vector<HistogramBin> make_histogram(const std::vector<double>& values, double least, double most,
                                         std::size_t bins) {
  std::vector<HistogramBin> histogram(bins);
  const double width = (most - least) / static_cast<double>(bins);
  for (std::size_t bin = 0; bin < bins; ++bin) {
    histogram[bin].from = least + width * static_cast<double>(bin);
    histogram[bin].to = bin + 1 == bins ? most : least + width * static_cast<double>(bin + 1);
  }
  for (const double value : values) {
    if (value < least || value > most) continue;
    const auto bin = width > 0 ? static_cast<std::size_t>((value - least) / width) : 0;
    ++histogram[std::min(bin, bins - 1)].count;
  }
  return histogram;
}

void print_histogram(const std::vector<double>& values, const char* unit) {
  constexpr std::size_t bins = 10;
  constexpr std::size_t widest_bar = 50;
  if (values.empty()) return;
  const auto histogram = make_histogram(values, measure::minimum(values), percentile(values, 99), bins);
  std::size_t shown = 0;
  std::size_t most = 1;
  for (const HistogramBin& bin : histogram) {
    shown += bin.count;
    most = std::max(most, bin.count);
  }
  for (const HistogramBin& bin : histogram) {
    const std::string bar((bin.count * widest_bar + most - 1) / most, '#');
    std::printf("%10.3f to %10.3f %s %9zu%s%s\n", bin.from, bin.to, unit, bin.count, bar.empty() ? "" : " ",
                bar.c_str());
  }
  if (shown < values.size()) {
    std::printf("%10s %13.3f %s %9zu, up to %.3f %s\n", "above", histogram.back().to, unit, values.size() - shown,
                *std::ranges::max_element(values), unit);
  }
}

}  // namespace gdrkit::measure
