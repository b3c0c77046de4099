// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EarlierResult: the result that --compare names, and the comparison with it.
#pragma once

#include <string>

#include "cli/interface/exit_code.hpp"
#include "measure/bench/compare_run.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::transfer::report {

class EarlierResult {
 public:
  /// Reads `path`. `who` begins error messages. Throws Failure(usage), as all here do.
  EarlierResult(std::string path, bool is_forced, std::string who = "gdrkit: --compare");

  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] measure::Result& result() noexcept { return old_; }
  [[nodiscard]] const measure::Result& result() const noexcept { return old_; }

  /// Before measuring: whether results with this head can be compared.
  void check(const measure::Result& head) const;
  /// The comparison of results that have a point in common, with nothing decided. Points into both results.
  [[nodiscard]] measure::bench::CompareReport compare(const measure::Result& current) const;
  /// What measure/compare says, in `text`. failed: something is slower beyond the noise; usage: what matters cannot be
  /// judged. Every series counts, whichever library it is of, and no point is measured again.
  [[nodiscard]] cli::ExitCode compare_with(measure::Result current, std::string* text) const;

 private:
  std::string path_;
  bool is_forced_;
  std::string who_;
  measure::Result old_;
};

}  // namespace gdrkit::transfer::report
