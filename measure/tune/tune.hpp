// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Tune: measures the copy library's engines on this machine and writes the profile for "automatic".
#pragma once

#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "measure/tool_parts/tool_report.hpp"
#include "measure/tune/profile.hpp"

namespace gdrkit::measure::tune {

struct TuneOptions {
  cli::CommonOptions common;
  std::string output;
};

struct TuneReport : ToolReport {
  std::string backend;
  std::vector<EngineTimes> times;  ///< with "automatic" if the profile was installed
  std::vector<std::string> notes;  ///< engines that cannot run here, with reasons
  std::string profile;
  std::string path;
  double seconds = 0;
};

/// Writes to the destination of --json.
void write_tune_json(const TuneOptions& options, const TuneReport& report);

}  // namespace gdrkit::measure::tune
