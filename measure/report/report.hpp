// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// report: results as a page for people.
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

/// Throws Failure(usage) when there is no input, when the page would replace an input, or would fill a terminal.
void check(const ReportOptions& options, bool is_terminal);

}  // namespace gdrkit::measure::report
