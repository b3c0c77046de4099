// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// LocalRank: the number of this process within its job on this machine, from the launcher.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gdrkit::diag::bind {

/// Returns a variable of the process; empty if it is not set.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

struct LocalRank {
  std::size_t value = 0;
  std::string variable;
  std::vector<std::string> others;  ///< "SLURM_LOCALID=0": variables with a different rank
};

/// Returns the rank from the innermost launcher. Throws Failure(usage) if no variable is set, or if the innermost
/// launcher's is not a number.
[[nodiscard]] LocalRank find_local_rank(const Lookup& lookup);

}  // namespace gdrkit::diag::bind
