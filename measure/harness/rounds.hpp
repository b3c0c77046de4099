// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rounds: several ways to do one thing, measured in turns, so that what disturbs the machine disturbs all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "measure/harness/clock.hpp"

namespace gdrkit::measure {

/// One of the ways that are compared. Both functions may throw; measure_rounds() passes that on.
struct Contender {
  std::string name;
  /// Does the thing `count` times, back to back, and returns the nanoseconds one took. Takes the time itself, because
  /// some times are taken elsewhere (by the GPU). batch_of() makes one of a plain function.
  std::function<double(std::size_t count)> run_batch;
  /// Does the thing once; `number` counts on from call to call. Empty: no percentiles of single operations.
  std::function<void(std::size_t number)> run_once;
};

/// A batch, timed by CLOCK_MONOTONIC, of `once(number)`.
[[nodiscard]] std::function<double(std::size_t)> batch_of(std::function<void(std::size_t)> once);

struct RoundsRequest {
  int rounds = 21;
  double batch_ns = 2e6;                   ///< a batch is calibrated to about this, and holds at least one operation
  std::size_t single_operations = 0;       ///< timed one by one, for each contender in all; spread over the rounds
  std::size_t most_operations = 1u << 20;  ///< in a batch
  double budget_ns = 0;  ///< fewer rounds (never under 3) when all of them would take longer; 0: no limit
};

struct Measured {
  std::string name;
  std::size_t operations_per_round = 0;
  std::vector<double> round_ns;   ///< nanoseconds for one operation: the mean of each round's batch
  std::vector<double> single_ns;  ///< of single operations, the clock's overhead included; not sorted
};

/// Warms up, calibrates each contender, then runs the rounds; the order of the contenders turns by one each round, and
/// each batch follows one operation of its own contender that is not counted.
/// Singly timed operations have their place after each round's batches. Results in the order of `contenders`.
[[nodiscard]] std::vector<Measured> measure_rounds(const std::vector<Contender>& contenders,
                                                   const RoundsRequest& request, const Clock& clock);

}  // namespace gdrkit::measure
