// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/matching.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <limits>
#include <random>

#include "worked_trees.hpp"

namespace gdrkit::diag::topology {
namespace {

using Costs = std::vector<std::vector<std::optional<std::int64_t>>>;

std::int64_t total(const Costs& costs, std::int64_t load, const std::vector<std::optional<std::size_t>>& columns) {
  std::int64_t sum = 0;
  std::vector<std::int64_t> loads(costs.empty() ? 0 : costs[0].size());
  for (std::size_t row = 0; row < costs.size(); ++row) {
    if (columns[row].has_value()) sum += *costs[row][*columns[row]] + load * loads[*columns[row]]++;
  }
  return sum;
}

/// The smallest sum by exhaustive search; rows without any column are left out.
std::int64_t least(const Costs& costs, std::int64_t load) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> loads(costs[0].size());
  const std::function<void(std::size_t, std::int64_t)> go = [&](std::size_t row, std::int64_t sum) {
    if (sum >= best) return;
    if (row == costs.size()) {
      best = sum;
      return;
    }
    bool has_any = false;
    for (std::size_t column = 0; column < loads.size(); ++column) {
      if (!costs[row][column].has_value()) continue;
      has_any = true;
      const std::int64_t more = *costs[row][column] + load * loads[column];
      ++loads[column];
      go(row + 1, sum + more);
      --loads[column];
    }
    if (!has_any) go(row + 1, sum);
  };
  go(0, 0);
  return best;
}

class Assignment : public testing::TestWithParam<unsigned> {};

TEST_P(Assignment, MatchesExhaustiveSearch) {
  std::mt19937 chance(GetParam());
  for (int round = 0; round < 20; ++round) {
    const std::size_t rows = 1 + chance() % (round < 4 ? 8 : 6);
    const std::size_t columns = 1 + chance() % (round < 4 ? 8 : 6);
    const std::int64_t load = static_cast<std::int64_t>(chance() % 40);
    Costs costs(rows, std::vector<std::optional<std::int64_t>>(columns));
    for (auto& row : costs) {
      for (auto& cost : row) {
        if (chance() % 5 != 0) cost = static_cast<std::int64_t>(chance() % 60);
      }
    }
    const auto chosen = minimum_cost_assignment(costs, load);
    for (std::size_t row = 0; row < rows; ++row) {
      bool can = false;
      for (const auto& cost : costs[row]) can = can || cost.has_value();
      ASSERT_EQ(chosen[row].has_value(), can);
    }
    ASSERT_EQ(total(costs, load, chosen), least(costs, load)) << rows << " x " << columns << " load " << load;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Assignment, testing::Range(1u, 13u));

Matching match(const PciTree& tree, const NvLinks& links = {}, std::vector<bool> is_usable = {}) {
  if (is_usable.empty()) is_usable.assign(tree.adapters.size(), true);
  return match_adapters(tree, NcclDistances(make_nccl_graph(tree, links)), is_usable);
}

std::string chosen(const PciTree& tree, const Matching& matching) {
  std::string text;
  for (const BestAdapter& best : matching.gpus) {
    text += (text.empty() ? "" : " ") + (best.adapter.has_value() ? tree.adapters[*best.adapter].name : "-") + ":" +
            name_of(best.nearness);
  }
  return text;
}

std::string chosen(const WrittenMachine& machine, const NvLinks& links = {}) {
  const PciTree tree = machine.tree();
  return chosen(tree, match(tree, links));
}

TEST(Matching, AssignsEachGpuTheAdapterOfItsSwitch) {
  EXPECT_EQ(chosen(*two_sockets()), "n0:PIX n1:PIX");
  EXPECT_EQ(chosen(*cascade()), "n1:PIX n0:PXB");
  EXPECT_EQ(chosen(*workstation()), "n0:PHB n0:PHB");
  EXPECT_EQ(chosen(*host_bridges()), "n0:NODE");
  EXPECT_EQ(chosen(*grace(), grace_links()), "n0:P2C");
}

/// GPUs and adapters behind one switch, on the given buses.
MachinePointer one_switch(const std::vector<unsigned>& gpus, const std::vector<unsigned>& adapters) {
  auto machine = std::make_unique<WrittenMachine>();
  char path[128];
  for (const unsigned bus : gpus) {
    std::snprintf(path, sizeof(path), "pci0000:00/0000:00:01.0/0000:01:00.0/0001:02:%02x.0/0000:%02x:00.0", bus % 32,
                  bus);
    machine->gpu(path, 0);
  }
  for (const unsigned bus : adapters) {
    std::snprintf(path, sizeof(path), "pci0000:00/0000:00:01.0/0000:01:00.0/0002:02:%02x.0/0000:%02x:00.0", bus % 32,
                  bus);
    machine->adapter("n" + std::to_string(bus), path, 0);
  }
  return machine;
}

TEST(Matching, PrefersEvenLoadOverNearBusNumbers) {
  EXPECT_EQ(chosen(*one_switch({0x10, 0x11}, {0x0f, 0x70})), "n15:PIX n112:PIX");
}

TEST(Matching, BreaksTiesByPciOrder) {
  EXPECT_EQ(chosen(*one_switch({0x10, 0x11, 0x12}, {0x20, 0x21, 0x22})), "n32:PIX n33:PIX n34:PIX");
  EXPECT_EQ(chosen(*one_switch({0x10}, {0x0f, 0x11})), "n15:PIX") << "as far as the other, and before it";
}

TEST(Matching, LeavesOutUnusableAdapters) {
  const PciTree tree = two_sockets()->tree();
  EXPECT_EQ(chosen(tree, match(tree, {}, {false, true})), "n1:SYS n1:PIX");
  const Matching none = match(tree, {}, {false, false});
  EXPECT_EQ(chosen(tree, none), "-:unknown -:unknown");
  EXPECT_EQ(none.gpus[0].why, "no usable adapter");
}

TEST(Matching, HashDependsOnTheShapeAndNotOnTheNumbers) {
  const PciTree one = one_switch({0x10, 0x11}, {0x20, 0x21})->tree();
  const PciTree same = one_switch({0x30, 0x31}, {0x40, 0x41})->tree();
  const PciTree other = one_switch({0x10, 0x11}, {0x20})->tree();
  EXPECT_EQ(match(one).hash, match(same).hash);
  EXPECT_NE(match(one).hash, match(other).hash);
}

TEST(Matching, LeavesUnknownDistancesUnmatched) {
  auto machine = host_bridges();
  for (const char* file : {"/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/numa_node",
                           "/sys/devices/pci0000:80/0000:80:01.1/0000:81:00.0/numa_node"}) {
    machine->put(file, "?\n");
  }
  const PciTree tree = machine->tree();
  const Matching matching = match(tree);
  EXPECT_EQ(chosen(tree, matching), "-:unknown");
  EXPECT_NE(matching.gpus[0].why.find("numa_node"), std::string::npos);
}

}  // namespace
}  // namespace gdrkit::diag::topology
