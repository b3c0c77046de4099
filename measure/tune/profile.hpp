// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EngineTimes: the times of each engine by copy size; Profile: the fastest engines in the library's format.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

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

}  // namespace gdrkit::measure::tune
