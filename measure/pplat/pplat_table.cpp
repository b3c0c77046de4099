// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The table of `gdrkit pplat`.
#include <algorithm>
#include <cstdio>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "measure/harness/samples.hpp"
#include "measure/pplat/pplat.hpp"
#include "measure/tool_parts/histogram.hpp"

namespace gdrkit::measure::pplat {
namespace {

const char* place_name(bool is_in_host) { return is_in_host ? "host memory" : "GPU memory"; }

std::vector<double> in_us(std::vector<double> values) {
  for (double& value : values) value /= 1000;
  return values;
}

std::string percentile_text(const std::vector<double>& us, double percent, std::size_t beyond_permille) {
  if (!measure::has_percentile(us.size(), beyond_permille)) return "-";
  return cli::format("%.4f", percentile(us, percent));
}

void print_row(const Measured& way) {
  if (way.single_ns.empty()) {
    std::printf("%-8s %9zu %9.4f %9.4f\n", way.name.c_str(), way.round_ns.size(), measure::minimum(way.round_ns) / 1000,
                median(way.round_ns) / 1000);
    return;
  }
  const std::vector<double> us = in_us(way.single_ns);
  std::printf("%-8s %9zu %9.4f %9.4f %9s %9s %9.4f\n", way.name.c_str(), us.size(), measure::minimum(us),
              median(way.round_ns) / 1000, percentile_text(us, 99, measure::beyond_p99).c_str(),
              percentile_text(us, 99.9, measure::beyond_p999).c_str(), *std::ranges::max_element(us));
}

}  // namespace

std::string describe_match(const PplatOptions& options, const MatchRequest& request) {
  const std::string data =
      options.data_bytes == 0
          ? ""
          : cli::format("%zu bytes of data in %s and then ", options.data_bytes, place_name(request.is_data_in_host));
  const std::string gpu = cli::format("its flag in %s", place_name(request.is_gpu_flag_in_host));
  const std::string cpu = cli::format("its flag in %s", place_name(!request.is_cpu_flag_on_device));
  const std::string shape = cli::format("a GPU kernel (%u x %u threads)", request.shape.blocks, request.shape.threads);
  if (request.is_gpu_first) {
    return cli::format("%s writes %sthe CPU's flag; the CPU polls %s and writes the GPU's; the GPU polls %s.",
                       shape.c_str(), data.c_str(), cpu.c_str(), gpu.c_str());
  }
  return cli::format("The CPU writes %sthe GPU's flag; %s polls %s and writes the CPU's; the CPU polls %s.",
                     data.c_str(), shape.c_str(), gpu.c_str(), cpu.c_str());
}

void print_pplat_table(const PplatOptions& options, const PplatReport& report) {
  const Measured& first = report.ways.front();
  const bool is_gpus = first.single_ns.empty();
  if (is_gpus) {
    std::printf("times by the GPU, one per launch of %zu round trips; us\n", first.operations_per_round);
    std::printf("%-8s %9s %9s %9s\n", "by", "launches", "min", "median");
  } else {
    std::printf("us per round trip, times by the CPU: the median in batches of up to %zu, the others one by one\n",
                most_batch_trips);
    std::printf("(%s, whose overhead of %.1f ns is included)\n", report.clock->name.c_str(), report.clock->overhead_ns);
    std::printf("%-8s %9s %9s %9s %9s %9s %9s\n", "by", "count", "min", "median", "p99", "p99.9", "max");
  }
  for (const Measured& way : report.ways) print_row(way);
  if (report.is_cut_short) {
    std::printf("stopped before all %d iterations: a round trip took too long here\n", options.iterations);
  }
  if (report.ways.size() > 1) {
    const char* verdict = report.is_within_limit() ? "within the limit" : "OVER THE LIMIT";
    const std::string line =
        cli::format("ratio of medians, mapping to raw: %.4f, %s of %.2f%s", report.ratio_to_raw(), verdict,
                    PplatReport::raw_limit, report.is_emulated ? " (emulated device: does not describe hardware)" : "");
    std::printf("%s\n", cli::fitted(line, 2).c_str());
  }
  if (!options.common.quiet && !is_gpus) {
    std::printf("\nround trips through the mapping\n");
    print_histogram(in_us(first.single_ns), "us");
  }
  if (report.noise && !report.noise->is_quiet() && !options.common.quiet) {
    std::printf("other processes took %.1f %% of this CPU, so p99 and above measure the machine\n",
                report.noise->lost_share * 100);
  }
}

}  // namespace gdrkit::measure::pplat
