// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "bench/harness/stopwatch.hpp"
#include "tools/common/bench_names.hpp"
#include "tools/common/json_document.hpp"
#include "tools/copybw/copybw.hpp"

namespace gdrkit::tools {

void print_copybw_json(const CopybwOptions& options, const CopybwReport& report) {
  Json document = json_head("copybw", report.machine, report.names.backend, report.is_emulated, report.place);
  document["store_kernel"] = report.names.store_kernel;
  document["load_kernel"] = report.names.load_kernel;
  document["mapping_type"] = report.mapping_type;
  document["allocation"] = options.allocation;
  document["timer"] = timer_name;
  document["write_iterations"] = options.write_iterations;
  document["read_iterations"] = options.read_iterations;
  bool is_ok = true;
  document["results"] = Json::array();
  for (const BandwidthResult& result : report.results) {
    document["results"].push_back({{"size_bytes", result.size_bytes},
                                   {"offset_bytes", result.offset_bytes},
                                   {"write_mib_per_s", result.write_mib_per_s},
                                   {"read_mib_per_s", result.read_mib_per_s},
                                   {"is_verified", result.is_verified()}});
    is_ok = is_ok && result.is_verified();
  }
  if (report.sweep) document["series"] = series_json(report.sweep->series);
  document["ok"] = is_ok;
  print_json(document);
}

}  // namespace gdrkit::tools
