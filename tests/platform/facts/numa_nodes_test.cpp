// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/numa_nodes.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace gdrkit::platform {
namespace {

using Numbers = std::vector<int>;

TEST(NumaNodes, ListsOnlineCpusAndMemoryOfTwoSockets) {
  const auto nodes = tests::value_or_throw(read_numa_nodes(GDRKIT_TREE "/two_nodes"));
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].cpus, (Numbers{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(nodes[1].cpus, (Numbers{4, 6, 7, 12, 13, 14, 15})) << "CPU 5 was switched off";
  EXPECT_EQ(nodes[1].memory_bytes, 131072000ull * 1024);
  EXPECT_EQ(node_of_cpu(nodes, 6), 1);
  EXPECT_EQ(node_of_cpu(nodes, 5), -1);
}

TEST(NumaNodes, MayHaveGapsAndLackMemoryOrCpus) {
  const auto nodes = tests::value_or_throw(read_numa_nodes(GDRKIT_TREE "/four_nodes"));
  ASSERT_EQ(nodes.size(), 4u);
  ASSERT_NE(find_node(nodes, 4), nullptr);
  EXPECT_EQ(find_node(nodes, 3), nullptr);
  EXPECT_EQ(find_node(nodes, 2)->memory_bytes, 0u);
  EXPECT_TRUE(find_node(nodes, 4)->cpus.empty());
}

TEST(NumaNodes, ReadsTheNodeOfAGpuFromTheTree) {
  const std::string root = GDRKIT_TREE "/two_nodes";
  EXPECT_EQ(pci_numa_node(root, {0, 0x3b, 0, 0}), 0);
  EXPECT_EQ(pci_numa_node(root, {0, 0xaf, 0, 0}), 1);
  EXPECT_EQ(pci_numa_node(root, {0, 0x17, 0, 0}), -1) << "the machine does not report it";
  EXPECT_EQ(pci_numa_node(root, {0, 0x99, 0, 0}), -1) << "the device does not exist";
}

TEST(NumaNodes, ReportsADistinctErrorWithoutNodes) {
  EXPECT_TRUE(tests::failed(read_numa_nodes(GDRKIT_TREE "/sys"), ENOENT));
}

class DamagedTree : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DamagedTree, IsRejectedWithTheFile) {
  const auto [tree, file] = GetParam();
  const auto nodes = read_numa_nodes(std::string(GDRKIT_TREE "/") + tree);
  ASSERT_FALSE(nodes);
  EXPECT_NE(std::string(nodes.error().text()).find(file), std::string::npos) << nodes.error().text();
}

INSTANTIATE_TEST_SUITE_P(NumaNodes, DamagedTree,
                         testing::Values(std::pair{"bad_list", "node0/cpulist"},
                                         std::pair{"bad_memory", "node0/meminfo"},
                                         std::pair{"no_list", "node1/cpulist"}, std::pair{"huge_list", "node0/cpulist"},
                                         std::pair{"empty", "online lists no node"}),
                         [](const auto& one) { return std::string(one.param.first); });

}  // namespace
}  // namespace gdrkit::platform
