// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/nccl/table.hpp"

#include <cinttypes>

#include "gdrkit/gdrkit.h"

namespace gdrkit::transfer::nccl {
namespace {

std::string timing_text(const std::optional<Timing>& measured) {
  if (!measured) return cli::format("  %7s  %6s  %6s  %6s", "N/A", "N/A", "N/A", "N/A");
  const Timing& timing = *measured;
  const std::string wrong = timing.wrong ? std::to_string(*timing.wrong) : "N/A";
  return cli::format("  %7s  %6s  %6s  %6s", fitted_number(timing.time_us, 7, 2).c_str(),
                     fitted_number(timing.algorithm_gbps, 6, 2).c_str(), fitted_number(timing.bus_gbps, 6, 2).c_str(),
                     wrong.c_str());
}

}  // namespace

std::string fitted_number(double value, int width, int decimals) {
  for (int places = decimals; places >= 0; --places) {
    std::string text = cli::format("%.*f", places, value);
    if (text.size() <= static_cast<std::size_t>(width)) return text;
  }
  return cli::format("%.1e", value);
}

std::string device_line(int rank, int process_id, const std::string& host, int device, const std::string& pci_bus_id,
                        const std::string& name) {
  // Without the function, like the original.
  const std::string bus = pci_bus_id.substr(0, pci_bus_id.find('.'));
  return cli::format("#  Rank %2d Group %2d Pid %6d on %10s device %2d [%s] %s", rank, 0, process_id, host.c_str(),
                     device, bus.c_str(), name.c_str());
}

std::string head_text(const Options& options, const std::string& test, const std::string& version_field,
                      const std::vector<std::string>& devices) {
  std::string text = cli::format("# gdrkit version %s %s\n# Collective test starting: %s_perf\n", gdrkit_version(),
                                 version_field.c_str(), test.c_str());
  const bool has_factor = options.factor > 1;
  text += cli::format(
      "# nThread 1 nGpus %d minBytes %zu maxBytes %zu step: %zu(%s) warmup iters: %d iters: %d agg iters: %d "
      "validation: %d graph: 0\n#\n# Using devices\n",
      options.gpus, options.smallest_bytes, options.largest_bytes,
      has_factor ? static_cast<std::size_t>(options.factor) : options.step_bytes, has_factor ? "factor" : "bytes",
      options.warmup, options.iterations, options.aggregated, options.check);
  for (const std::string& line : devices) text += line + "\n";
  return text + "#\n" +
         "#                                                              out-of-place                       in-place   "
         "   "
         "    \n"
         "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
         "busbw  "
         "#wrong \n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
         "(GB/s) "
         "        \n";
}

std::string row_text(const Row& row) {
  return cli::format("%12zu  %12zu  %8s  %6s  %6d", row.size_bytes, row.count, row.type.c_str(), row.reduction.c_str(),
                     row.root) +
         timing_text(row.out_of_place) + timing_text(row.in_place) + "\n";
}

double average_bus_gbps(const std::vector<Row>& rows) {
  double sum = 0;
  std::size_t count = 0;
  for (const Row& row : rows) {
    for (const auto& timing : {row.out_of_place, row.in_place}) {
      if (!timing) continue;
      sum += timing->bus_gbps;
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::uint64_t wrong_elements(const std::vector<Row>& rows) {
  std::uint64_t sum = 0;
  for (const Row& row : rows) {
    for (const auto& timing : {row.out_of_place, row.in_place}) sum += timing ? timing->wrong.value_or(0) : 0;
  }
  return sum;
}

std::string foot_text(const std::string& test, const std::vector<Row>& rows) {
  const std::uint64_t wrong = wrong_elements(rows);
  return cli::format("# Out of bounds values : %" PRIu64 " %s\n# Avg bus bandwidth    : %g \n#\n", wrong,
                     wrong == 0 ? "OK" : "FAILED", average_bus_gbps(rows)) +
         cli::format("# Collective test concluded: %s_perf\n#\n", test.c_str());
}

}  // namespace gdrkit::transfer::nccl
