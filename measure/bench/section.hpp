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

namespace gdrkit::measure::bench {

class Session;

/// What a cell needs is not to be had here (memory, BAR1 space, a second GPU): it is left out with this sentence.
class CannotMeasure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Cell {
  std::string label;  ///< "copies to_device 4 KiB": for people, and unique
  /// Makes its own buffers each time, measures, and adds points. Throws CannotMeasure, or Failure when what was
  /// measured did not do what it should.
  std::function<void(const Effort& effort, Collector* collector)> measure;
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

}  // namespace gdrkit::measure::bench
