// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Section and Cell: the benchmark's parts. A cell is measured as a unit, and can be measured again separately.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "measure/bench/collector.hpp"
#include "measure/bench/effort.hpp"

namespace gdrkit::measure::bench {

class Session;

/// A resource of a cell is unavailable (memory, BAR1 space, a second GPU): the cell is left out with this sentence.
class CannotMeasure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class T>
[[nodiscard]] T take(base::Result<T> result) {
  if (!result.has_value()) throw CannotMeasure(result.error().text());
  return std::move(*result);
}

struct Cell {
  std::string label;  ///< "copies to_device 4 KiB": human-readable and unique
  /// Allocates its own buffers each time, measures, and adds points. Throws CannotMeasure, or Failure if the measured
  /// operation failed.
  std::function<void(const Effort& effort, Collector* collector)> measure;
};

struct Section {
  std::string name;
  std::string summary;
  /// The cells under these options. May add notes. Throws CannotMeasure.
  std::function<std::vector<Cell>(Session* session)> cells;
};

/// In the order of sections.def.
[[nodiscard]] const std::vector<Section>& all_sections();
/// "copies, costs, ..."
[[nodiscard]] std::string section_names();

}  // namespace gdrkit::measure::bench
