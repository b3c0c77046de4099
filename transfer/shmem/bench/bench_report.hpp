// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BenchReport: what `gdrkit shmem bench` measured, as text and in the result schema.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/document_option.hpp"
#include "measure/result/result.hpp"
#include "transfer/shmem/bench/case.hpp"

namespace gdrkit::tools::pgas {

/// gdrkit's value divided by the peer's, at one size: of times, below 1 is faster; of bandwidths, above 1.
struct Ratio {
  double x = 0;
  double value = 0;
};

/// One case, or the start of a job, by each library that has it. Values in us or GB/s.
struct CaseResult {
  std::string name;
  std::string title;
  bool is_bandwidth = false;
  bool has_size = false;
  measure::Series own;
  std::optional<measure::Series> peer;

  /// Where both were measured.
  [[nodiscard]] std::vector<Ratio> ratios() const;
};

struct BenchReport {
  measure::Result result;  ///< without series
  std::string peer_name;   ///< "nvshmem 3.4.5", "" without one
  std::vector<CaseResult> cases;
};

/// A table in the shape of NVSHMEM's performance tests.
[[nodiscard]] std::string table_text(const CaseResult& one, const std::string& peer_name);
void write_bench_json(const DocumentOption& option, const BenchReport& report);

}  // namespace gdrkit::tools::pgas
