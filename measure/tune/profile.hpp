// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EngineTimes: what each engine took for a copy of each size; Profile: the fastest ones, as the library reads them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gdrkit::measure::tune {

/// Of one direction and one kind of host memory. Medians in us, by size; a size that is missing was not measured.
struct EngineTimes {
  std::string direction;                                      ///< "from_device" or "to_device"
  std::string host_memory;                                    ///< "pinned" or "ordinary"
  std::map<std::string, std::map<std::size_t, double>> warm;  ///< by engine: one copy behind the other
  std::map<std::string, std::map<std::size_t, double>> cold;  ///< the same, 1 ms apart
};

/// One line for each range of sizes with one choice: direction, kind of memory, largest size (0: all larger ones), the
/// engine that is the fastest while warm, and the fastest while that one is not. Of engines about as fast as the
/// fastest, the one that takes the least from the program: the CPU within 5 %, the copy engine, the mover within 3 %,
/// then lanes. The mover serves up to 2 MiB: its GPU kernel, launched ahead, would end while a larger copy goes on by
/// another engine.
[[nodiscard]] std::string profile_text(const std::vector<EngineTimes>& times);

}  // namespace gdrkit::measure::tune
