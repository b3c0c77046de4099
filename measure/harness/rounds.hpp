// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rounds: several methods measured in turns, so that disturbances of the machine affect all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "measure/harness/clock.hpp"

namespace gdrkit::measure {

/// One of the compared methods. Both functions may throw; measure_rounds() passes exceptions on.
struct Contender {
  std::string name;
  /// Runs the operation `count` times, back to back, and returns the nanoseconds per operation. It measures the time
  /// itself, because some times are measured elsewhere (by the GPU).
  std::function<double(std::size_t count)> run_batch;
  /// Runs the operation once; `number` increments from call to call. Empty: no percentiles of single operations.
  std::function<void(std::size_t number)> run_once;
};

struct RoundsRequest {
  int rounds = 21;
  double batch_ns = 2e6;                   ///< target time of a batch, which has at least one operation
  std::size_t single_operations = 0;       ///< timed one by one, in total per contender; distributed over the rounds
  std::size_t most_operations = 1u << 20;  ///< maximum of a batch
  double budget_ns = 0;  ///< reduces the rounds (to 3 at least) if all of them would take longer; 0: no limit
};

struct Measured {
  std::string name;
  std::size_t operations_per_round = 0;
  std::vector<double> round_ns;   ///< nanoseconds for one operation: the mean of each round's batch
  std::vector<double> single_ns;  ///< of single operations, including the clock's overhead; not sorted
};

/// Warms up, calibrates each contender, then runs the rounds. The order of the contenders rotates by one each round,
/// and each batch follows one operation of its own contender that does not count. Singly timed operations follow each
/// round's batches. Returns the results in the order of `contenders`.
[[nodiscard]] std::vector<Measured> measure_rounds(const std::vector<Contender>& contenders,
                                                   const RoundsRequest& request, const Clock& clock);

}  // namespace gdrkit::measure
