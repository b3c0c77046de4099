// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Counts: limits for numbers of iterations, rounds and repeats.
#pragma once

#include "cli/interface/exit_code.hpp"

namespace gdrkit::measure {

/// A thousand million calls take at least minutes. Every sum and product that the tools compute from it, including
/// rounding up to whole hundreds, fits an int.
inline constexpr int most_iterations = 1'000'000'000;
/// For values that are stored one by one: 80 MB.
inline constexpr int most_kept = 10'000'000;
inline constexpr int most_rounds = 100'000;

/// Throws Failure(usage) with `option` (under both its names, as "-w, --write-iterations") and the limits.
inline void check_count(const char* option, int value, int least, int most) {
  if (value >= least && value <= most) return;
  throw cli::Failure(cli::ExitCode::usage,
                     cli::format("ERROR: %s: %d is out of range: use %d to %d", option, value, least, most));
}

}  // namespace gdrkit::measure
