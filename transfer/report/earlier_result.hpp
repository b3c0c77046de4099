// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EarlierResult: --compare of tests between processes, whose points are not measured again.
#pragma once

#include <string>

#include "cli/common/exit_code.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::tools::report {

class EarlierResult {
 public:
  /// Reads `path`. Throws Failure(usage).
  EarlierResult(const std::string& path, bool is_forced);

  /// Before measuring: whether results with this head can be compared. Throws Failure(usage).
  void check(const measure::Result& head) const;
  /// What measure/compare says, in `text`. failed: something is slower beyond the noise; usage: what matters cannot be
  /// judged. Of these tests every series counts, whichever library it is of. Throws Failure(usage) where the results
  /// have no point in common.
  [[nodiscard]] ExitCode compare_with(measure::Result current, std::string* text) const;

 private:
  std::string path_;
  bool is_forced_;
  measure::Result old_;
};

}  // namespace gdrkit::tools::report
