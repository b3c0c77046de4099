// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collector: collects the points of cells, by series.
#pragma once

#include <string>
#include <vector>

#include "measure/result/result.hpp"

namespace gdrkit::measure::bench {

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

}  // namespace gdrkit::measure::bench
