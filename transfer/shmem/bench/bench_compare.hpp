// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BenchCompare: `gdrkit shmem bench --compare`, by measure/compare.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/exit_code.hpp"
#include "measure/result/result.hpp"
#include "transfer/report/earlier_result.hpp"
#include "transfer/shmem/bench/bench_options.hpp"
#include "transfer/shmem/bench/bench_run.hpp"

namespace gdrkit::transfer::shmem {

class BenchCompare {
 public:
  /// Reads the old file and keeps the series that the options select. Throws Failure(usage).
  explicit BenchCompare(const BenchOptions& options);

  /// Before measuring: whether results with this head can be compared. Throws Failure(usage).
  void check(const measure::Result& head) const;
  /// Compares, measures outliers again by `run`, and prints. failed: a series is slower; usage: the comparison is not
  /// conclusive.
  [[nodiscard]] cli::ExitCode compare_with(const measure::Result& current, BenchRun* run) const;

 private:
  const BenchOptions& options_;
  report::EarlierResult old_;
};

}  // namespace gdrkit::transfer::shmem
