// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Tune: measures the copy library's engines on this machine and writes the profile that "automatic" follows.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "measure/tune/profile.hpp"
#include "platform/facts/machine.hpp"

namespace gdrkit::measure::tune {

struct TuneOptions {
  cli::CommonOptions common;
  std::string output;
};

struct TuneReport {
  bool is_emulated = false;
  platform::Machine machine;
  std::string backend;
  std::vector<EngineTimes> times;  ///< with "automatic" where the profile was put into use
  std::vector<std::string> notes;  ///< engines that cannot run here, and why
  std::string profile;
  std::string path;
  double seconds = 0;
};

/// Where --json says.
void write_tune_json(const TuneOptions& options, const TuneReport& report);

}  // namespace gdrkit::measure::tune
