// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// report: results as a human-readable page.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/command_line.hpp"

namespace gdrkit::measure::report {

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< "": stdout
  std::string title;
  cli::DocumentOption json;
};

/// Throws Failure(usage) if there is no input, or if the page would replace an input or fill a terminal.
void check(const ReportOptions& options, bool is_terminal);

}  // namespace gdrkit::measure::report
