// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/host/placement.hpp"

#include <gmock/gmock.h>

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>

namespace gdrkit::platform {
namespace {

using testing::HasSubstr;
using testing::Not;
using Numbers = std::vector<int>;
constexpr const char* gpu_on_0 = "0000:3b:00.0";
constexpr const char* gpu_on_1 = "0000:af:00.0";
constexpr const char* gpu_unsaid = "0000:17:00.0";

/// A system that records its calls, and fails on demand.
class FakeCalls final : public PlacementCalls {
 public:
  Numbers allowed = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  int cpu = 6;
  int thread_error = 0;
  int memory_error = 0;
  std::vector<Numbers> threads;
  Numbers memory;

  int allowed_cpus(Numbers* cpus) noexcept override { return *cpus = allowed, 0; }
  int current_cpu() noexcept override { return cpu; }
  int bind_thread(const Numbers& cpus) noexcept override {
    if (thread_error != 0) return thread_error;
    threads.push_back(cpus);
    if (std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) cpu = cpus.back();
    return 0;
  }
  int bind_memory(int node) noexcept override {
    if (memory_error != 0) return memory_error;
    memory.push_back(node);
    return 0;
  }
};

class PlacementTest : public testing::Test {
 protected:
  Placement placement(const char* gpu, const char* tree = "two_nodes") {
    return Placement(std::string(GDRKIT_TREE "/") + tree, gpu, calls);
  }

  FakeCalls calls;
};

TEST_F(PlacementTest, BindsToACpuAndMemoryOfTheGpusNode) {
  const Placed placed = placement(gpu_on_0).automatic();
  ASSERT_EQ(calls.threads.size(), 2u);
  EXPECT_EQ(calls.threads[0], (Numbers{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(calls.threads[1], Numbers{11}) << "it must stay on one CPU";
  EXPECT_EQ(calls.memory, Numbers{0});
  EXPECT_EQ(placed.place.cpu, 11);
  EXPECT_EQ(placed.place.cpu_node, 0);
  EXPECT_EQ(placed.place.memory_node, 0);
  EXPECT_EQ(placed.place.gpu_node, 0);
  EXPECT_EQ(placed.place.advice, "");
  EXPECT_EQ(placed.line(), "on CPU 11 of NUMA node 0, memory of node 0, GPU on node 0");
}

TEST_F(PlacementTest, StaysWithinTheAllowedCpus) {
  calls.allowed = {2, 6, 7};
  EXPECT_EQ(placement(gpu_on_0).automatic().place.cpu, 2);
  EXPECT_EQ(calls.threads[0], Numbers{2});
}

TEST_F(PlacementTest, AdvisesIfNoCpuOfTheGpusNodeIsAllowed) {
  calls.allowed = {4, 6};
  const Placed placed = placement(gpu_on_0).automatic();
  EXPECT_EQ(placed.place.cpu, 6);
  EXPECT_EQ(placed.place.cpu_node, 1);
  EXPECT_EQ(placed.place.memory_node, 1) << "memory far from the CPU is useless";
  EXPECT_THAT(placed.line(), HasSubstr("may not use the CPUs of node 0 (0-3,8-11)"));
  EXPECT_THAT(placed.place.advice, HasSubstr("runs on NUMA node 1, but the GPU is on node 0"));
  EXPECT_THAT(placed.place.advice, HasSubstr("CPUs 0-3,8-11"));
}

TEST_F(PlacementTest, ContinuesIfContainersForbidBindingMemory) {
  calls.memory_error = -EPERM;
  const Placed placed = placement(gpu_on_1).automatic();
  EXPECT_EQ(placed.place.cpu_node, 1);
  EXPECT_EQ(placed.place.memory_node, -1);
  EXPECT_FALSE(placed.is_as_requested());
  EXPECT_THAT(placed.line(), HasSubstr("memory not bound"));
  EXPECT_THAT(placed.line(), HasSubstr("set_mempolicy: Operation not permitted"));
}

TEST_F(PlacementTest, ContinuesIfThreadsCannotBeBound) {
  calls.thread_error = -EPERM;
  const Placed placed = placement(gpu_on_0).automatic();
  EXPECT_EQ(placed.place.cpu, -1);
  EXPECT_EQ(placed.place.cpu_node, 1) << "it runs on CPU 6";
  EXPECT_THAT(placed.line(), HasSubstr("on no fixed CPU of NUMA node 1"));
  EXPECT_THAT(placed.place.advice, HasSubstr("but the GPU is on node 0"));
}

TEST_F(PlacementTest, KeepsThePlacementIfTheGpusNodeIsUnknown) {
  const Placed placed = placement(gpu_unsaid).automatic();
  EXPECT_EQ(placed.place.cpu, 6);
  EXPECT_EQ(placed.place.gpu_node, -1);
  EXPECT_EQ(placed.place.memory_node, 1);
  EXPECT_EQ(placed.place.advice, "");
  EXPECT_THAT(placed.line(), HasSubstr("does not report the GPU's node"));
}

TEST_F(PlacementTest, PrintsNothingForADeviceWithoutAnAddress) {
  const Placed placed = placement("").automatic();
  EXPECT_EQ(placed.line(), "on CPU 6 of NUMA node 1, memory of node 1");
}

TEST_F(PlacementTest, DoesNotBindMemoryOnANodeWithoutMemory) {
  calls.allowed = {0, 4, 5};
  const Placed placed = placement(gpu_on_0, "four_nodes").automatic();  // this GPU is on node 2
  EXPECT_EQ(placed.place.cpu_node, 2);
  EXPECT_EQ(placed.place.memory_node, -1);
  EXPECT_THAT(placed.line(), HasSubstr("node 2 has no memory"));
  EXPECT_TRUE(calls.memory.empty());
  EXPECT_EQ(placed.place.advice, "");
}

TEST_F(PlacementTest, AcceptsAnotherNodeIfTheGpusHasNoCpus) {
  calls.cpu = 3;
  const Placed placed = placement(gpu_on_1, "four_nodes").automatic();  // this GPU is on node 4
  EXPECT_EQ(placed.place.cpu, 3);
  EXPECT_THAT(placed.line(), HasSubstr("node 4 has no CPUs"));
  EXPECT_THAT(placed.place.advice, Not(HasSubstr("this runs on")));
}

TEST_F(PlacementTest, BindsToAnAllowedCpuAndReleasesIt) {
  Placement place = placement(gpu_on_0);
  Placed placed = place.automatic();
  ASSERT_EQ(placed.place.cpu, 11);
  calls.threads.clear();
  EXPECT_FALSE(place.move_to(4, &placed)) << "of the other node";
  EXPECT_FALSE(place.move_to(5, &placed)) << "forbidden";
  EXPECT_TRUE(calls.threads.empty());
  EXPECT_TRUE(place.move_to(2, &placed));
  EXPECT_EQ(calls.threads, std::vector<Numbers>{Numbers{2}});
  EXPECT_EQ(placed.place.cpu, 2);
  place.release();
  EXPECT_EQ(calls.threads.back(), calls.allowed);
  Placed unbound = place.keep();
  EXPECT_FALSE(place.move_to(2, &unbound));
}

TEST_F(PlacementTest, BindsToTheRequestedNodesAndAdvisesAgainstFarOnes) {
  Placement on_two_nodes = placement(gpu_on_0);
  const Placed near = on_two_nodes.on({0, 0});
  EXPECT_TRUE(near.is_as_requested());
  EXPECT_EQ(near.place.advice, "");
  const Placed far_memory = on_two_nodes.on({0, 1});
  EXPECT_EQ(far_memory.place.cpu_node, 0);
  EXPECT_EQ(far_memory.place.memory_node, 1);
  EXPECT_THAT(far_memory.place.advice, HasSubstr("memory is of NUMA node 1"));
  const Placed far = on_two_nodes.on({1, 1});
  EXPECT_THAT(far.place.advice, HasSubstr("this runs on NUMA node 1"));
  EXPECT_EQ(calls.memory, (Numbers{0, 1, 1}));
}

TEST_F(PlacementTest, KeepsTheUsersPlacementAndAdvises) {
  const Placed placed = placement(gpu_on_0).keep();
  EXPECT_TRUE(calls.threads.empty());
  EXPECT_TRUE(calls.memory.empty());
  EXPECT_EQ(placed.place.cpu, -1);
  EXPECT_EQ(placed.place.cpu_node, 1);
  EXPECT_THAT(placed.place.advice, HasSubstr("--no-bind"));
  calls.cpu = 8;
  EXPECT_EQ(placement(gpu_on_0).keep().place.advice, "");
}

TEST_F(PlacementTest, ReportsThatTheSystemHasNoNodesOrTheDamagedFile) {
  const Placed none = placement(gpu_on_0, "sys").automatic();
  EXPECT_EQ(none.place.cpu, 6);
  EXPECT_THAT(none.line(), HasSubstr("reports no NUMA nodes"));
  const Placed damaged = placement(gpu_on_0, "bad_list").automatic();
  EXPECT_THAT(damaged.line(), HasSubstr("node0/cpulist"));
}

TEST(RealPlacement, BindsTheCallingThreadOnThisMachine) {
  std::thread([] {
    std::vector<int> before;
    ASSERT_EQ(real_placement_calls().allowed_cpus(&before), 0);
    ASSERT_FALSE(before.empty());
    const Placed placed = Placement("/sys", "").automatic();
    ASSERT_TRUE(placed.is_thread_bound) << placed.line();
    std::vector<int> after;
    ASSERT_EQ(real_placement_calls().allowed_cpus(&after), 0);
    EXPECT_EQ(after, Numbers{placed.place.cpu});
    EXPECT_EQ(sched_getcpu(), placed.place.cpu);
    EXPECT_NE(std::find(before.begin(), before.end(), placed.place.cpu), before.end());
  }).join();
}

TEST(RealPlacement, KernelRejectsInvalidNodes) {
  EXPECT_EQ(real_placement_calls().bind_memory(-1), -EINVAL);
  EXPECT_EQ(real_placement_calls().bind_memory(1 << 20), -EINVAL);
  EXPECT_LT(real_placement_calls().bind_thread({}), 0) << "no CPU at all";
}

}  // namespace
}  // namespace gdrkit::platform
