// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/tune/tune.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace gdrkit::measure::tune {
namespace {

constexpr std::size_t largest_for_mover = std::size_t{2} << 20;

using Times = std::map<std::string, std::map<std::size_t, double>>;

double time_of(const Times& times, const std::string& engine, std::size_t size) {
  const auto found = times.find(engine);
  const bool is_too_large = engine == "mover" && size > largest_for_mover;
  if (found == times.end() || is_too_large) return std::numeric_limits<double>::infinity();
  const auto time = found->second.find(size);
  return time == found->second.end() ? std::numeric_limits<double>::infinity() : time->second;
}

/// Of the engines that are about as fast as the fastest, the one that uses the fewest resources of the program.
std::string fastest(const Times& times, std::size_t size) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [engine, unused] : times) best = std::min(best, time_of(times, engine, size));
  // Most copies by other engines require CUDA calls. Of these engines, only the copy engine uses no multiprocessor and
  // no core.
  if (time_of(times, "cpu", size) <= best * 1.05) return "cpu";
  for (const char* engine : {"copy_engine", "mover"}) {
    if (time_of(times, engine, size) <= best * 1.03) return engine;
  }
  return time_of(times, "lanes", size) <= best ? "lanes" : "cpu";
}

}  // namespace

std::string profile_text(const std::vector<EngineTimes>& all) {
  std::string text = "gdrkit engines 1\n";
  for (EngineTimes times : all) {
    times.cold.erase("mover");  // requires a launch each time
    std::set<std::size_t> sizes;
    for (const auto& [engine, by_size] : times.warm) {
      for (const auto& [size, time] : by_size) sizes.insert(size);
    }
    std::string warm = "cpu";
    std::string cold = "cpu";
    const auto add = [&](std::size_t up_to) {
      text += times.direction + " " + times.host_memory + " " + std::to_string(up_to) + " " + warm + " " + cold + "\n";
    };
    std::size_t last = 0;
    for (const std::size_t size : sizes) {
      const std::string next_warm = fastest(times.warm, size);
      const std::string next_cold = fastest(times.cold, size);
      if ((next_warm != warm || next_cold != cold) && last != 0) add(last);
      warm = next_warm;
      cold = next_cold;
      last = size;
    }
    add(0);
  }
  return text;
}

}  // namespace gdrkit::measure::tune
