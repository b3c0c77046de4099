// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/harness/rounds.hpp"

#include <algorithm>
#include <utility>

#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure {
namespace {

constexpr int fewest_rounds = 3;
constexpr int calibration_runs = 3;
/// The state of the caches hardly affects an operation that is this long.
constexpr double longest_settled_ns = 20e6;

/// Number of operations that take about `batch_ns`. For the shortest ones the time of a single operation is mostly that
/// of the clock, so the second estimate uses as many as the first one suggests.
std::size_t calibrate(const Contender& contender, const RoundsRequest& request, double* each_ns) {
  const auto fitting = [&](double ns) {
    const double count = request.batch_ns / std::max(ns, 1.0);
    return std::clamp<std::size_t>(static_cast<std::size_t>(count), 1,
                                   std::max<std::size_t>(request.most_operations, 1));
  };
  double once_ns = contender.run_batch(1);  // page faults and cold code are not measured
  for (int run = 0; run < calibration_runs && once_ns < request.batch_ns; ++run) {
    once_ns = std::min(once_ns, contender.run_batch(1));
  }
  *each_ns = fitting(once_ns) == 1 ? once_ns : contender.run_batch(fitting(once_ns));
  return fitting(*each_ns);
}

/// One batch after one operation that does not count: the previous contender, which is always the same one, has left
/// its state in the caches.
double run_settled_batch(const Contender& contender, std::size_t count, double each_ns) {
  if (each_ns < longest_settled_ns) (void)contender.run_batch(1);
  return contender.run_batch(count);
}

/// Times `count` single operations, numbered from `first`.
void time_singles(const Contender& contender, std::size_t first, std::size_t count, const Clock& clock,
                  std::vector<double>* single_ns) {
  for (std::size_t number = first; number < first + count; ++number) {
    const std::uint64_t begin = clock.now();
    contender.run_once(number);
    const std::uint64_t end = clock.now();
    single_ns->push_back(clock.ns(end - begin));
  }
}

int rounds_within_budget(const RoundsRequest& request, double round_ns) {
  const int requested = std::max(request.rounds, 1);
  if (request.budget_ns <= 0 || round_ns * requested <= request.budget_ns) return requested;
  return std::clamp(static_cast<int>(request.budget_ns / round_ns), std::min(fewest_rounds, requested), requested);
}

}  // namespace

std::vector<Measured> measure_rounds(const std::vector<Contender>& contenders, const RoundsRequest& request,
                                     const Clock& clock) {
  std::vector<Measured> results;
  std::vector<double> each;
  double round_ns = 0;
  for (const Contender& contender : contenders) {
    Measured measured;
    measured.name = contender.name;
    double each_ns = 0;
    measured.operations_per_round = calibrate(contender, request, &each_ns);
    const double settling_ns = each_ns < longest_settled_ns ? each_ns : 0;
    round_ns += each_ns * static_cast<double>(measured.operations_per_round) + settling_ns;
    each.push_back(each_ns);
    results.push_back(std::move(measured));
  }
  const int rounds = rounds_within_budget(request, round_ns);
  const std::size_t count = contenders.size();
  const auto all_rounds = static_cast<std::size_t>(rounds);
  for (std::size_t round = 0; round < all_rounds; ++round) {
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t index = (round + turn) % count;
      results[index].round_ns.push_back(
          run_settled_batch(contenders[index], results[index].operations_per_round, each[index]));
    }
    const std::size_t from = request.single_operations * round / all_rounds;
    const std::size_t to = request.single_operations * (round + 1) / all_rounds;
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t index = (round + turn) % count;
      if (!contenders[index].run_once) continue;
      time_singles(contenders[index], from, to - from, clock, &results[index].single_ns);
    }
  }
  return results;
}

}  // namespace gdrkit::measure
