// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The text output of both front ends.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "cli/interface/exit_code.hpp"
#include "measure/apiperf/apiperf.hpp"
#include "measure/harness/samples.hpp"
#include "measure/tool_parts/histogram.hpp"

namespace gdrkit::measure::apiperf {
namespace {

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string percentile_text(const std::vector<double>& us, double percent, std::size_t beyond_permille) {
  if (!measure::tells_percentile(us.size(), beyond_permille)) return "-";
  return cli::format("%.3f", percentile(us, percent));
}

}  // namespace

void print_gdrcopy_cost(const CallCost& cost) {
  constexpr std::size_t bins = 10;
  std::printf("Size(B)\tpin.Time(us)\tmap.Time(us)\tget_info.Time(us)\tunmap.Time(us)\tunpin.Time(us)\n");
  std::printf("%zu", cost.size_bytes);
  for (const Call call : calls) std::printf("\t%f", mean(cost.of(call)));
  std::printf("\nHistogram of gdr_pin_buffer latency for %zu bytes\n", cost.size_bytes);
  const std::vector<double>& pins = cost.of(Call::pin);
  for (const HistogramBin& bin :
       make_histogram(pins, measure::minimum(pins), *std::max_element(pins.begin(), pins.end()), bins)) {
    std::printf("[%f\t-\t%f]\t%zu\n", bin.from, bin.to, bin.count);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_cost_head() {
  std::printf("%12s %-9s %11s %11s %11s %11s %11s %11s\n", "bytes", "call", "median, us", "min", "p99", "p99.9", "max",
              "mean");
}

void print_cost_rows(const CallCost& cost) {
  for (const Call call : calls) {
    const std::vector<double>& us = cost.of(call);
    std::printf("%12zu %-9s %11.3f %11.3f %11s %11s %11.3f %11.3f\n", cost.size_bytes, call_name(call), median(us),
                measure::minimum(us), percentile_text(us, 99, measure::beyond_p99).c_str(),
                percentile_text(us, 99.9, measure::beyond_p999).c_str(), *std::max_element(us.begin(), us.end()),
                mean(us));
  }
  std::fflush(stdout);
}

}  // namespace gdrkit::measure::apiperf
