// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/bench_report.hpp"

#include <algorithm>

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools::pgas {

std::vector<Ratio> CaseResult::ratios() const {
  std::vector<Ratio> all;
  if (!peer) return all;
  for (const measure::Point& point : own.points) {
    const measure::Point* const other = measure::find_point(*peer, point.x);
    if (other != nullptr && other->value > 0) all.push_back({point.x, point.value / other->value});
  }
  return all;
}

std::string table_text(const CaseResult& one, const std::string& peer_name) {
  const char* const unit = one.is_bandwidth ? "GB/s" : "us";
  const char* const quantity = one.is_bandwidth ? "bandwidth" : "latency";
  std::string text = format("#shmem_%s: %s\n%-12s %-8s %16s %12s", one.name.c_str(), one.title.c_str(), "size(B)",
                            "scope", format("%s (%s)", quantity, unit).c_str(), "p99");
  if (one.peer) text += format(" %18s %10s", format("%s (%s)", peer_name.c_str(), unit).c_str(), "ratio");
  text += "\n";
  const std::vector<Ratio> ratios = one.ratios();
  for (const measure::Point& point : one.own.points) {
    const std::string size = one.has_size ? format("%.0f", point.x) : "-";
    const std::string p99 = point.single ? format("%.6f", point.single->p99) : "-";
    text += format("%-12s %-8s %16.6f %12s", size.c_str(), "host", point.value, p99.c_str());
    const auto ratio = std::find_if(ratios.begin(), ratios.end(), [&](const Ratio& r) { return r.x == point.x; });
    if (ratio != ratios.end()) {
      text += format(" %18.6f %10.3f", measure::find_point(*one.peer, point.x)->value, ratio->value);
    }
    text += "\n";
  }
  return text + "\n";
}

}  // namespace gdrkit::tools::pgas
