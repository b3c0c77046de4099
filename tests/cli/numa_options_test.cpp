// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/numa_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "measure/tool_parts/numa_sweep.hpp"
#include "support/throws_failure.hpp"

namespace gdrkit::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::throws_failure;
using Kind = NumaChoice::Kind;

const std::string two_nodes = GDRKIT_TREE "/two_nodes";
const std::string four_nodes = GDRKIT_TREE "/four_nodes";

void expect_rejected(const std::string& numa, const std::string& tree, const std::string& message,
                     bool no_bind = false) {
  const auto choose = [&] { (void)choose_nodes({numa, no_bind}, tree); };
  EXPECT_THAT(choose, throws_failure(ExitCode::usage, HasSubstr(message))) << "'" << numa << "'";
}

TEST(NumaOptions, AreReadAsNodesOfThisMachine) {
  EXPECT_EQ(choose_nodes({}, two_nodes).kind, Kind::automatic);
  EXPECT_EQ(choose_nodes({"auto", true}, two_nodes).kind, Kind::keep);
  EXPECT_EQ(choose_nodes({"all", false}, two_nodes).kind, Kind::all);
  const NumaChoice one = choose_nodes({"1", false}, two_nodes);
  EXPECT_EQ(one.kind, Kind::pair);
  EXPECT_EQ(one.pair.cpu_node, 1);
  EXPECT_EQ(one.pair.memory_node, 1);
  const NumaChoice pair = choose_nodes({"0:4", false}, four_nodes);
  EXPECT_EQ(pair.pair.cpu_node, 0);
  EXPECT_EQ(pair.pair.memory_node, 4);
}

TEST(NumaOptions, ListTheExistingNodesIfOthersAreRequested) {
  expect_rejected("2", two_nodes, "NUMA node 2 has no CPUs or does not exist; nodes with CPUs: 0-1");
  expect_rejected("4", four_nodes, "nodes with CPUs: 0-2");  // node 4 has only memory
  expect_rejected("2", four_nodes, "NUMA node 2 has no memory or does not exist; nodes with memory: 0-1,4");
  expect_rejected("0:3", four_nodes, "nodes with memory: 0-1,4");
}

TEST(NumaOptions, RejectInvalidNodes) {
  for (const char* text : {"", "x", "0:", ":0", "0:1:0", "-1", "1.5", "0 ", "99999999999"}) {
    expect_rejected(text, two_nodes, "CPU_NODE[:MEMORY_NODE]");
  }
  expect_rejected("0", two_nodes, "cannot combine --numa with --no-bind", true);
  expect_rejected("0", GDRKIT_TREE "/sys", "cannot read the NUMA nodes");
  expect_rejected("all", GDRKIT_TREE "/sys", "cannot read the NUMA nodes");
}

/// Two nodes. Records its place, and forbids memory of one node on demand.
class Machine final : public platform::PlacementCalls {
 public:
  int cpu = 0;
  int memory = -1;
  int forbidden_memory = -1;
  int allowed_cpus(std::vector<int>* cpus) noexcept override { return *cpus = {0, 1, 6, 7}, 0; }
  int current_cpu() noexcept override { return cpu; }
  int bind_thread(const std::vector<int>& cpus) noexcept override { return cpu = cpus.front(), 0; }
  int bind_memory(int node) noexcept override {
    if (node == forbidden_memory) return -EINVAL;
    memory = node;
    return 0;
  }
};

TEST(NumaOptions, FailIfTheRequestedNodesAreUnavailable) {
  Machine machine;
  machine.forbidden_memory = 1;
  platform::Placement placement(two_nodes, "0000:3b:00.0", machine);
  EXPECT_EQ(place({Kind::pair, {1, 0}}, &placement).place.cpu, 6);
  const auto place_apart = [&] { (void)place({Kind::pair, {0, 1}}, &placement); };
  EXPECT_THAT(place_apart, throws_failure(ExitCode::cannot_run, HasSubstr("--numa 0:1: cannot bind to these nodes")));
}

TEST(NumaSweep, MeasuresEveryPairInEveryRoundAndKeepsTheirValuesApart) {
  Machine machine;
  platform::Placement placement(two_nodes, "0000:3b:00.0", machine);
  int calls = 0;
  const measure::NumaSweep sweep = measure::sweep_nodes(
      &placement, {{"a", "to_device", 64, "us", true, 10}, {"b", "from_device", 64, "us", true, 20}}, [&] {
        ++calls;
        const double value = (machine.cpu >= 6 ? 10 : 0) + machine.memory;
        return std::vector<double>{value, 100 + value};
      });
  EXPECT_EQ(calls, 4 * measure::numa_rounds);
  ASSERT_EQ(sweep.series.size(), 2u);
  EXPECT_EQ(sweep.series[0].id, "numa_copy_to_device_64");
  EXPECT_EQ(sweep.series[0].x_name, "cpu_node");
  EXPECT_EQ(sweep.series[0].y_name, "memory_node");
  for (const int cpu_node : {0, 1}) {
    for (const int memory_node : {0, 1}) {
      const double expected = cpu_node * 10 + memory_node;
      ASSERT_NE(measure::find_point(sweep.series[0], cpu_node, memory_node), nullptr);
      EXPECT_EQ(measure::find_point(sweep.series[0], cpu_node, memory_node)->value, expected);
      EXPECT_EQ(measure::find_point(sweep.series[1], cpu_node, memory_node)->value, 100 + expected);
      EXPECT_EQ(measure::find_point(sweep.series[1], cpu_node, memory_node)->rounds.size(),
                std::size_t{measure::numa_rounds});
      EXPECT_EQ(measure::find_point(sweep.series[1], cpu_node, memory_node)->operations_per_round, 20u);
    }
  }
  EXPECT_TRUE(sweep.left_out.empty());
}

TEST(NumaSweep, LeavesOutAndReportsUnavailablePairs) {
  Machine machine;
  machine.forbidden_memory = 1;
  platform::Placement placement(two_nodes, "0000:3b:00.0", machine);
  const measure::NumaSweep sweep =
      measure::sweep_nodes(&placement, {{"a", "to_device", 64, "us", true, 1}}, [] { return std::vector<double>{1}; });
  EXPECT_EQ(sweep.series[0].points.size(), 2u);
  EXPECT_EQ(measure::find_point(sweep.series[0], 0, 1), nullptr);
  ASSERT_EQ(sweep.left_out.size(), 2u);
  EXPECT_THAT(sweep.left_out[0], HasSubstr("CPU node 0, memory node 1 is left out"));
  testing::internal::CaptureStdout();
  measure::print_sweep(sweep, 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), AllOf(HasSubstr("N/A"), HasSubstr("the GPU is on node 0")));
}

TEST(NumaSweep, CannotRunIfNoPairIsAvailable) {
  class Nothing final : public platform::PlacementCalls {
   public:
    int allowed_cpus(std::vector<int>* cpus) noexcept override { return *cpus = {0}, 0; }
    int current_cpu() noexcept override { return 0; }
    int bind_thread(const std::vector<int>&) noexcept override { return -EPERM; }
    int bind_memory(int) noexcept override { return -EPERM; }
  } nothing;
  platform::Placement placement(two_nodes, "", nothing);
  const std::vector<measure::NumaQuantity> quantities = {{"a", "to_device", 64, "us", true, 1}};
  EXPECT_THAT([&] { (void)measure::sweep_nodes(&placement, quantities, [] { return std::vector<double>{1}; }); },
              throws_failure(ExitCode::cannot_run, HasSubstr("Operation not permitted")));
}

}  // namespace
}  // namespace gdrkit::cli
