// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EarlierResult: the result given by --compare, and the comparison with it.
#pragma once

#include <string>

#include "cli/interface/exit_code.hpp"
#include "measure/bench/compare_run.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::transfer::report {

class EarlierResult {
 public:
  /// Reads `path`. `who` is the prefix of error messages. Throws Failure(usage), as all functions here do.
  EarlierResult(std::string path, bool is_forced, std::string who = "gdrkit: --compare");

  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] measure::Result& result() noexcept { return old_; }
  [[nodiscard]] const measure::Result& result() const noexcept { return old_; }

  /// Call it before measuring: checks whether results with this head can be compared.
  void check(const measure::Result& head) const;
  /// Compares results that have a point in common, without a verdict. The report points into both results.
  [[nodiscard]] measure::bench::CompareReport compare(const measure::Result& current) const;
  /// Writes the report of measure/compare to `text`. failed: something is slower beyond the noise; usage: an important
  /// point cannot be judged. Every series counts, of every library, and no point is measured again.
  [[nodiscard]] cli::ExitCode compare_with(measure::Result current, std::string* text) const;

 private:
  std::string path_;
  bool is_forced_;
  std::string who_;
  measure::Result old_;
};

}  // namespace gdrkit::transfer::report
