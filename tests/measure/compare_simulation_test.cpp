// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rates of false alarms and of found slowdowns of the comparison, on simulated machines.
#include <gtest/gtest.h>

#include <cstdlib>

#include "measure/compare_laboratory.hpp"

namespace gdrkit::measure {
namespace {

constexpr const char* copy_id = "copies/to_device/mapping";

/// `sizes` copies with their raw loops.
struct MadeUpMachine : Laboratory {
  int sizes = 29;
  int rounds = 51;
  double round_noise = 0.02;        ///< of one round's batch
  double noise_differs = 0.7;       ///< by this logarithm from point to point, the same in every run
  double machine_noise = 0.05;      ///< of a run, the same for all
  double shared_noise = 0.05;       ///< of a round, the same for the copy and its raw loop
  double disturbed_share = 0.15;    ///< of batches that lose a time slice
  int processes = 3;                ///< that share a run's rounds; a trial is one more
  double placement_scale = 0.0035;  ///< of a process, the raw loop's not included; heavy-tailed
  double slow_share = 0;            ///< of processes whose copies are slower by `slow_factor`, the raw loop's not
  double slow_factor = 1.08;
  double run_noise = 0.003;  ///< of a point in one run, the raw loop's not included
  double base_ns = 1000;     ///< of the smallest size
  bool has_control = true;
  bool is_emulated = false;
  double lost_share = 0;

  Result measure(const Slowdown& slowdown, const std::optional<Cell>& only) override {
    Result result;
    result.tool = "bench";
    result.is_emulated = is_emulated;
    result.noise = MachineNoise{};
    result.noise->lost_share = lost_share;
    Series copy;
    copy.id = copy_id;
    copy.operation = "copy";
    copy.direction = "to_device";
    copy.method = "mapping";
    copy.x_name = "size_bytes";
    copy.unit = "ns";
    copy.control = has_control ? "copies/to_device/raw" : "";
    Series raw = copy;
    raw.id = "copies/to_device/raw";
    raw.method = "raw";
    raw.control = "";
    const double machine = normal(machine_noise);
    const int round_count = only ? rounds * 2 : rounds;
    for (int size = 0; size < sizes; ++size) {
      if (only && only->x != size) continue;
      add_point(size, machine, round_count, slowdown.factor_at(copy_id, size), &copy, &raw);
    }
    result.series = {copy};
    if (has_control) result.series.push_back(raw);
    return result;
  }

 private:
  void add_point(int size, double machine, int round_count, double factor, Series* copy, Series* raw) {
    const double base = base_ns * std::exp2(size / 2.0);
    const double noise = round_noise * std::exp(noise_differs * std::sin(size * 2.4));
    const double run = normal(run_noise);
    double place = 0;
    std::vector<double> copies;
    std::vector<double> raws;
    for (int round = 0; round < round_count; ++round) {
      const bool is_trial = round_count > rounds;
      if (round == 0 || (!is_trial && round % (rounds / processes) == 0)) {
        place = run + heavy(placement_scale) + (happens(slow_share) ? std::log(slow_factor) : 0);
      }
      const double shared = normal(shared_noise) + machine;
      copies.push_back(base * factor * std::exp(shared + place + normal(noise)) * disturbance());
      raws.push_back(0.98 * base * std::exp(shared + normal(noise)) * disturbance());
    }
    copy->points.push_back(make_point(size, copies, 1000));
    raw->points.push_back(make_point(size, raws, 1000));
  }
  double disturbance() { return happens(disturbed_share) ? 3 : 1; }
};

/// ./run test --full simulates five times as many.
int many(int runs) {
  const char* const full = std::getenv("GDRKIT_FULL");
  return full != nullptr && *full == '1' ? 5 * runs : runs;
}

struct Rates {
  double alarms = 0;  ///< per cent of the comparisons
  double found = 0;
  double trials = 0;  ///< in each comparison
};

Rates run_many(MadeUpMachine machine, int base_runs, double share) {
  const int runs = many(base_runs);
  Tally tally;
  for (int run = 0; run < runs; ++run) {
    const Result base = machine.measure({}, std::nullopt);
    compare_once(machine, base,
                 share > 0 ? Slowdown{copy_id, static_cast<double>(run % machine.sizes), share} : Slowdown{}, &tally);
  }
  return {100.0 * tally.alarms / runs, 100.0 * tally.found / runs, static_cast<double>(tally.trials) / runs};
}

TEST(CompareSimulation, RepeatedRunsOfOneBuildRaiseNoFalseAlarm) {
  const Rates rates = run_many({}, 200, 0);
  // The limits are designed for 0.5.
  EXPECT_LE(rates.alarms, 1);
  // Retrials must stay rare, otherwise a comparison takes as long as several runs.
  EXPECT_LT(rates.trials, 6);
}

TEST(CompareSimulation, DetectsOnlyTheTenPercentSlowdown) {
  const Rates rates = run_many({}, 100, 0.10);
  EXPECT_GE(rates.found, 98);
  EXPECT_LE(rates.alarms, 1);
}

TEST(CompareSimulation, UniformSlowdownOfTheMachineIsNotARegression) {
  MadeUpMachine machine;
  machine.machine_noise = 0.3;
  EXPECT_LE(run_many(machine, 100, 0).alarms, 1);
  EXPECT_GE(run_many(machine, 60, 0.10).found, 97);
}

TEST(CompareSimulation, DetectsOnlyLargeChangesWithoutAControl) {
  MadeUpMachine machine;
  machine.has_control = false;
  EXPECT_LE(run_many(machine, 100, 0).alarms, 1);
  EXPECT_LE(run_many(machine, 60, 0.10).found, 5);
  EXPECT_GE(run_many(machine, 60, 1.5).found, 95);
}

TEST(CompareSimulation, ThreeRoundsDetectLargeChangesWithoutFalseAlarms) {
  MadeUpMachine machine;
  machine.rounds = 3;
  machine.disturbed_share = 0;
  EXPECT_LE(run_many(machine, 200, 0).alarms, 2);
  EXPECT_GE(run_many(machine, 100, 0.5).found, 90);
}

TEST(CompareSimulation, ThreeNoisyRoundsRaiseNoFalseAlarms) {
  MadeUpMachine machine;
  machine.rounds = 3;
  EXPECT_LE(run_many(machine, 200, 0).alarms, 2);
}

TEST(CompareSimulation, HeavyNoiseRaisesNoFalseAlarms) {
  MadeUpMachine machine;
  machine.disturbed_share = 0.4;
  machine.round_noise = 0.1;
  EXPECT_LE(run_many(machine, 100, 0).alarms, 2);
}

TEST(CompareSimulation, LargeVariationBetweenRunsWidensTheLimits) {
  MadeUpMachine machine;
  machine.placement_scale = 0.012;  // beyond three times the assumed floor
  EXPECT_LE(run_many(machine, 100, 0).alarms, 4);
  EXPECT_GE(run_many(machine, 60, 0.5).found, 95);
}

TEST(CompareSimulation, DetectsASlowdownOfHalfOfAllPoints) {
  MadeUpMachine machine;
  const Result base = machine.measure({}, std::nullopt);
  Result current = machine.measure({}, std::nullopt);
  for (Point& point : current.series[0].points) {
    if (static_cast<int>(point.x) % 2 == 0) continue;
    for (double& round : point.rounds) round *= 1.15;
  }
  const Comparison comparison = compare(base, current);
  EXPECT_LT(comparison.family.excess(), 1.6);
  int slower = 0;
  for (const ComparedPoint& point : comparison.points) slower += point.is_slower() ? 1 : 0;
  EXPECT_GE(slower, 12);
}

TEST(CompareSimulation, EffectsOnSomeProcessesAreNotARegression) {
  MadeUpMachine machine;
  machine.slow_share = 0.15;
  EXPECT_LE(run_many(machine, 100, 0).alarms, 2);
  EXPECT_GE(run_many(machine, 60, 0.20).found, 95);
}

TEST(CompareSimulation, DetectsATenfoldSlowdownOnABusyMachine) {
  MadeUpMachine machine;
  machine.is_emulated = true;
  machine.base_ns = 10;
  machine.sizes = 12;
  machine.lost_share = 0.5;
  machine.disturbed_share = 0.4;
  machine.round_noise = 0.3;
  machine.machine_noise = 0.3;
  machine.placement_scale = 0.1;
  EXPECT_LE(run_many(machine, 100, 0).alarms, 2);
  MadeUpMachine smallest = machine;
  smallest.sizes = 1;
  EXPECT_GE(run_many(machine, 60, 9).found, 95);
  EXPECT_GE(run_many(smallest, 60, 9).found, 95);
}

TEST(CompareSimulation, IgnoresDifferencesOfNanoseconds) {
  MadeUpMachine machine;
  machine.is_emulated = true;
  machine.sizes = 1;
  machine.base_ns = 10;
  EXPECT_EQ(run_many(machine, 60, 0.3).found, 0);
  machine.base_ns = 10000;
  EXPECT_GE(run_many(machine, 60, 0.1).found, 97);
}

}  // namespace
}  // namespace gdrkit::measure
