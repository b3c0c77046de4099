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
#include "measure/bench/effort.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure::bench {

/// Collects the points of cells, by series.
class Collector {
 public:
  /// Adds a point to the series with `like`'s id, which is created as `like` without its points. A second measurement
  /// of a point is merged with the first.
  void add(const Series& like, Point point);
  /// Adds a sentence for the reader of the result, unless it was added before.
  void note(const std::string& sentence);

  [[nodiscard]] const std::vector<Series>& series() const noexcept { return series_; }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  [[nodiscard]] const Series* find(const std::string& id) const noexcept;
  [[nodiscard]] std::size_t points() const noexcept;

 private:
  std::vector<Series> series_;
  std::vector<std::string> notes_;
};

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
