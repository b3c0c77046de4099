// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BufferOptions: GDRCopy's options for the mapped buffer, with its words and error messages, and limits for numbers of
// iterations, rounds and repeats.
#pragma once

#include <string>

#include "cli/interface/command_line.hpp"
#include "cli/interface/exit_code.hpp"

namespace gdrkit::measure {

/// -a; `target` must outlive the parsing, and contains the default.
[[nodiscard]] cli::Option allocation_option(std::string* target);
/// -M; the same.
[[nodiscard]] cli::Option mapping_type_option(std::string* target);

/// A thousand million calls take at least minutes. Every sum and product that the tools compute from it, including
/// rounding up to whole hundreds, fits an int.
inline constexpr int most_iterations = 1'000'000'000;
/// For values that are stored one by one: 80 MB.
inline constexpr int most_kept = 10'000'000;
inline constexpr int most_rounds = 100'000;

/// Throws Failure(usage) with `option` (under both its names, as "-w, --write-iterations") and the limits.
inline void check_count(const char* option, int value, int least, int most) {
  if (value >= least && value <= most) return;
  cli::reject(cli::format("ERROR: %s: %d is out of range: use %d to %d", option, value, least, most));
}

}  // namespace gdrkit::measure
