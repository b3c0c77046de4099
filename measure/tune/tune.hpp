// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Tune: measures the copy library's engines on this machine and writes the profile for "automatic".
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "measure/tool_parts/tool_run.hpp"

namespace gdrkit::measure::tune {

/// For one direction and one kind of host memory. Medians in us, by size; a missing size was not measured.
struct EngineTimes {
  std::string direction;                                      ///< "from_device" or "to_device"
  std::string host_memory;                                    ///< "pinned" or "ordinary"
  std::map<std::string, std::map<std::size_t, double>> warm;  ///< by engine: copies back to back
  std::map<std::string, std::map<std::size_t, double>> cold;  ///< the same, 1 ms apart
};

/// One line per range of sizes with one choice: direction, kind of memory, largest size (0: all larger ones), the
/// fastest engine while warm, and the fastest while that one is not.
///
/// Of engines about as fast as the fastest, the line has the one that uses the fewest resources of the program: the CPU
/// within 5 %, the copy engine, the mover within 3 %, then lanes. The mover supports up to 2 MiB: its GPU kernel,
/// launched ahead, would end while another engine continues a larger copy.
[[nodiscard]] std::string profile_text(const std::vector<EngineTimes>& times);

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
