// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Effort: how long the benchmark measures one point.
#pragma once

#include <algorithm>
#include <cstddef>

#include "measure/harness/rounds.hpp"

namespace gdrkit::measure::bench {

struct Effort {
  int rounds = 51;
  /// Well below a scheduler's time slice: on a shared machine most batches then run undisturbed, and the median is one
  /// of them. About half of the batches of 2 ms were disturbed on a CPU shared by two processes (two modes, five times
  /// apart).
  double batch_ns = 0.25e6;
  double budget_ns = 1e9;           ///< for all contenders of one size
  std::size_t most_singles = 2000;  ///< maximum of operations timed one by one
  double singles_ns = 60e6;         ///< for one contender
  bool is_quick = false;

  /// With fewer singly timed operations a 99th percentile is meaningless.
  static constexpr std::size_t fewest_singles = 100;

  /// The part of process `number` of `processes`: its share of the rounds, and either all or none of the single
  /// operations, because percentiles of several processes cannot be combined.
  [[nodiscard]] Effort share_of(int number, int processes) const {
    Effort share = *this;
    share.rounds = rounds * (number + 1) / processes - rounds * number / processes;
    share.budget_ns = budget_ns / processes;
    if (number > 0) share.most_singles = 0;
    return share;
  }

  /// For a retrial: more rounds, and no single operations.
  [[nodiscard]] Effort of_trial() const {
    constexpr int factor = 2;
    Effort trial = *this;
    trial.rounds *= factor;
    trial.budget_ns *= factor;
    trial.most_singles = 0;
    return trial;
  }

  /// For an operation that takes about `each_ns`.
  [[nodiscard]] RoundsRequest request(double each_ns) const {
    RoundsRequest request;
    request.rounds = rounds;
    request.batch_ns = batch_ns;
    request.budget_ns = budget_ns;
    const auto fitting = static_cast<std::size_t>(singles_ns / std::max(each_ns, 1.0));
    request.single_operations = fitting < fewest_singles ? 0 : std::min(fitting, most_singles);
    return request;
  }
};

[[nodiscard]] inline Effort quick_effort() {
  Effort effort;
  effort.rounds = 21;
  effort.batch_ns = 0.2e6;
  effort.budget_ns = 0.15e9;
  effort.most_singles = 500;
  effort.singles_ns = 10e6;
  effort.is_quick = true;
  return effort;
}

}  // namespace gdrkit::measure::bench
