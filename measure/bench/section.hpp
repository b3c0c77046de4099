// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Section and Cell: the benchmark's parts. A cell is what is measured in one go, and can be measured again by itself.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure/bench/collector.hpp"
#include "measure/bench/effort.hpp"

namespace gdrkit::tools {

class Session;

/// Of cells whose buffers are made in milliseconds.
inline constexpr int usual_visits = 3;
inline constexpr std::size_t largest_visited_bytes = std::size_t{1} << 20;
[[nodiscard]] constexpr int visits_for(std::size_t size_bytes) {
  return size_bytes <= largest_visited_bytes ? usual_visits : 1;
}

/// What a cell needs is not to be had here (memory, BAR1 space, a second GPU): it is left out with this sentence.
class CannotMeasure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Cell {
  std::string label;  ///< for people: "to_device 4 KiB"
  /// Makes its own buffers each time, measures, and adds points. Throws CannotMeasure, or Failure when what was
  /// measured did not do what it should.
  std::function<void(const Effort& effort, Collector* collector)> measure;
  /// The rounds are shared out over so many of these calls, so that one unlucky place of the buffers is outvoted.
  int visits = 1;
};

struct Section {
  std::string name;
  std::string summary;
  /// What there is to measure under these options. May add notes. Throws CannotMeasure.
  std::function<std::vector<Cell>(Session* session)> cells;
};

/// In the order of sections.def.
[[nodiscard]] const std::vector<Section>& all_sections();
/// "copies, costs, ..."
[[nodiscard]] std::string section_names();

}  // namespace gdrkit::tools
