// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Crossover: the x from which another method is better, reported only if the noise allows it.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/result/result.hpp"

namespace gdrkit::measure::report {

/// Differences within this many standard errors do not count.
inline constexpr double errors_to_differ = 3;
/// A noise estimate from fewer rounds is not sufficient.
inline constexpr std::size_t least_rounds = 3;

struct Crossing {
  double below = 0;          ///< the last x at which the one was clearly better
  double above = 0;          ///< the first x at which the other clearly is
  double x = 0;              ///< between them, where the logarithms of both are equal
  bool is_from_one = false;  ///< true: `one` is better below, `other` above
};

/// Two series over the x that both have.
struct Contest {
  std::size_t points = 0;        ///< common x with enough rounds and values above zero
  std::size_t one_better = 0;    ///< number of points at which it is clearly better
  std::size_t other_better = 0;  ///< the same; at the remaining points the noise hides the difference
  std::vector<Crossing> crossings;
};

[[nodiscard]] Contest compete(const measure::Series& one, const measure::Series& other);

}  // namespace gdrkit::measure::report
