// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which PEs are one node's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "shmem/node/node_join.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::ElementsAre;

/// The PEs that PE i sees on its machine: "{ 0, 2 }".
std::vector<std::string> join_nodes(int n_pes, const std::function<node::MachineName(int pe)>& machine_of) {
  return run_pes(n_pes, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    auto node = node::join_node(machine_of(exchange.pe()), exchange, 100, long_limit);
    if (!node) return end_of(node);
    // Descriptors go round on each machine, at the same time.
    std::vector<int> all((*node)->pes().size());
    const int mine = exchange.pe();
    if (auto passed = (*node)->exchange_fds(-1, &mine, sizeof mine, all.data(), "numbers"); !passed)
      return end_of(passed);
    return all == (*node)->pes() ? ::testing::PrintToString(all) : "wrong parts";
  });
}

node::MachineName machine(const char* boot_id) {
  node::MachineName name = node::read_machine_name().value();
  std::snprintf(name.boot_id, sizeof name.boot_id, "%s", boot_id);
  return name;
}

TEST(NodeGroups, GroupsByBootIdentifier) {
  EXPECT_THAT(join_nodes(5, [](int pe) { return machine(pe % 2 == 0 ? "one" : "two"); }),
              ElementsAre("{ 0, 2, 4 }", "{ 1, 3 }", "{ 0, 2, 4 }", "{ 1, 3 }", "{ 0, 2, 4 }"));
}

TEST(NodeGroups, SeparatesUsersAndNetworkNamespaces) {
  EXPECT_THAT(join_nodes(4,
                         [](int pe) {
                           node::MachineName name = machine("one");
                           if (pe == 1) name.user += 1;
                           if (pe == 2) name.network_namespace += 1;
                           return name;
                         }),
              ElementsAre("{ 0, 3 }", "{ 1 }", "{ 2 }", "{ 0, 3 }"));
}

TEST(NodeGroups, ReadsTheNameOfThisMachine) {
  const auto name = node::read_machine_name();
  ASSERT_TRUE(name) << name.error().text();
  EXPECT_EQ(std::strlen(name->boot_id), 37u);  // a UUID and the end of its line
  EXPECT_NE(name->network_namespace, 0u);
}

/// Copies of a virtual machine have equal names, and only a connection distinguishes them.
TEST(NodeGroups, SeparatesEqualNamesThatCannotConnect) {
  std::atomic<int> refused{0};
  const auto ends = run_pes(5, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    const node::MachineName name = machine("a copy");
    // Of this thread only; PEs 1 and 2 become unreachable, the exchange's connections stay.
    if (exchange.pe() == 1 || exchange.pe() == 2) {
      if (::unshare(CLONE_NEWNET) != 0) refused = errno;
    }
    auto node = node::join_node(name, exchange, 100, long_limit);
    if (!node) return end_of(node);
    return ::testing::PrintToString((*node)->pes());
  });
  if (refused != 0) GTEST_SKIP() << "no network namespace of one's own here: " << std::strerror(refused);
  EXPECT_THAT(ends, ElementsAre("{ 0, 3, 4 }", "{ 1 }", "{ 2 }", "{ 0, 3, 4 }", "{ 0, 3, 4 }"));
}

TEST(NodeGroups, EachNetworkNamespaceIsASeparateNode) {
  std::atomic<int> refused{0};
  const auto ends = run_pes(3, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    if (exchange.pe() == 1 && ::unshare(CLONE_NEWNET) != 0) refused = errno;
    auto node = node::Node::join(exchange, 100, long_limit);
    return node ? std::to_string((*node)->pes().size()) : end_of(node);
  });
  if (refused != 0) GTEST_SKIP() << "no network namespace of one's own here: " << std::strerror(refused);
  EXPECT_THAT(ends, ElementsAre("2", "1", "2"));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
