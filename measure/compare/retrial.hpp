// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Retrial: a point that stands out is measured again, on fresh buffers, before it is called a regression.
#pragma once

#include <vector>

#include "measure/compare/comparison.hpp"

namespace gdrkit::measure {

/// Of thousands of looks some are far out; those do not come again. The first look chose the point because it was far
/// out, so it is no evidence and only the retrials count.
class Retrial {
 public:
  static constexpr std::size_t trials = 3;

  /// `points`: how many points were compared. `suspect` must outlive it.
  Retrial(const ComparedPoint& suspect, std::size_t points) : suspect_(suspect), points_(points) {}

  void add(const Look& look);
  /// No further trial can matter: enough were made, or the last one showed less than half of what would count.
  [[nodiscard]] bool is_over() const;
  /// As slow again in the median of all trials, beyond the limit.
  [[nodiscard]] bool is_confirmed() const;
  [[nodiscard]] Change change() const { return pooled(changes_); }  ///< after the first add()

 private:
  [[nodiscard]] double limit() const { return limit_among(change(), points_); }

  const ComparedPoint& suspect_;
  std::size_t points_;
  std::vector<Change> changes_;
};

}  // namespace gdrkit::measure
