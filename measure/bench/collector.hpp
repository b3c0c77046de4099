// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collector: where cells put their points, by series.
#pragma once

#include <string>
#include <vector>

#include "measure/result/result.hpp"

namespace gdrkit::measure::bench {

class Collector {
 public:
  /// Adds a point to the series that has `like`'s id, which begins with all of `like` but its points. Of a point that
  /// is there already both looks become one.
  void add(const Series& like, Point point);
  /// A sentence for the reader of the result. Said once, however often it is given.
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
