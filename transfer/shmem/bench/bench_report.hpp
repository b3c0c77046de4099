// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BenchReport: what `gdrkit shmem bench` measured, as text and in the result schema.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "measure/result/result.hpp"
#include "transfer/shmem/bench/case.hpp"

namespace gdrkit::transfer::shmem {

/// gdrkit's value divided by another library's, at one size: of times, below 1 is faster; of all others, above 1.
struct Ratio {
  double x = 0;
  double value = 0;
};

/// One case, or the start of a job, by each library that has it. Values in the case's unit.
struct CaseResult {
  std::string name;
  std::string title;
  std::string scope;
  Quantity quantity = Quantity::latency;
  bool has_size = false;
  measure::Series own;
  std::vector<measure::Series> peers;  ///< `method` names the library

  /// Where both were measured.
  [[nodiscard]] std::vector<Ratio> ratios(const measure::Series& peer) const;
};

using PeerNames = std::map<std::string, std::string>;  ///< "nvshmem": "nvshmem 3.4.5"

struct BenchReport {
  measure::Result result;  ///< without series
  PeerNames peer_names;    ///< empty without a peer
  std::vector<CaseResult> cases;
};

/// A table in the shape of NVSHMEM's performance tests.
[[nodiscard]] std::string table_text(const CaseResult& one, const PeerNames& peer_names);
/// With all series.
[[nodiscard]] measure::Result whole_result(const BenchReport& report);
void write_bench_json(const cli::DocumentOption& option, const BenchReport& report);

/// The time from the start of the processes to the end of the first put. `n_pes`: of the job.
[[nodiscard]] measure::Series start_series(const std::string& library, int n_pes);
[[nodiscard]] measure::Series case_series(const Case& one, const std::string& library, int n_pes);
/// `single`: of count 0 where none was timed.
[[nodiscard]] measure::Point case_point(const Case& one, std::size_t size_bytes, const measure::Measured& measured,
                                        measure::Single single);
[[nodiscard]] const char* unit_name(Quantity quantity);
[[nodiscard]] const char* quantity_name(Quantity quantity);

}  // namespace gdrkit::transfer::shmem
