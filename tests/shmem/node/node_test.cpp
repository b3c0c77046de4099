// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/node/node.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "shmem/bootstrap/deadline.hpp"
#include "support/process_resources.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"
#include "tests/shmem/node/local_names.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::size_t area_bytes = 5000;

using AsPe = std::function<std::string(bootstrap::Exchange& exchange, node::Node& node)>;

std::vector<std::string> run_node(int n_pes, const AsPe& as_pe) {
  return run_pes(n_pes, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    auto node = node::Node::join(exchange, area_bytes, long_limit);
    return node ? as_pe(exchange, **node) : end_of(node);
  });
}

std::string require(bool is_true, const char* what) { return is_true ? "" : what; }
#define REQUIRE(condition) \
  if (const std::string wrong = require(condition, #condition); !wrong.empty()) return wrong

TEST(Node, ContainsAllPesOfThisMachine) {
  const auto ends = run_node(5, [](bootstrap::Exchange& exchange, node::Node& node) -> std::string {
    REQUIRE((node.pes() == std::vector<int>{0, 1, 2, 3, 4}));
    REQUIRE(node.has(4) && !node.has(5) && !node.has(-1));
    REQUIRE(node.index_of(3) == 3 && node.index_of(7) == -1);
    for (const int pe : node.pes()) REQUIRE(node.is_alive(pe));
    REQUIRE(node.first_dead() == -1);
    return gather_and_check(exchange, 0, "end");
  });
  EXPECT_THAT(ends, Each(std::string()));
}

TEST(Node, SharesZeroedMemory) {
  const auto ends = run_node(4, [](bootstrap::Exchange& exchange, node::Node& node) -> std::string {
    auto* const bytes = static_cast<unsigned char*>(node.area());
    REQUIRE(reinterpret_cast<std::uintptr_t>(bytes) % 4096 == 0);
    REQUIRE(std::accumulate(bytes, bytes + area_bytes, 0) == 0);
    if (auto end = gather_and_check(exchange, 0, "checked"); !end.empty()) return end;
    bytes[area_bytes - 1 - static_cast<std::size_t>(exchange.pe())] = static_cast<unsigned char>(10 + exchange.pe());
    if (auto end = gather_and_check(exchange, 0, "written"); !end.empty()) return end;
    for (int pe = 0; pe < 4; ++pe) REQUIRE(bytes[area_bytes - 1 - static_cast<std::size_t>(pe)] == 10 + pe);
    return gather_and_check(exchange, 0, "read");
  });
  EXPECT_THAT(ends, Each(std::string()));
}

/// Every second PE sends a file whose content is its number.
std::string pass_files(node::Node& node, int pe) {
  base::UniqueFd file;
  if (pe % 2 == 0) {
    file = base::UniqueFd(::memfd_create("test", MFD_CLOEXEC));
    REQUIRE(::pwrite(file.get(), &pe, sizeof pe, 0) == sizeof pe);
  }
  const int mine = 100 + pe;
  std::vector<int> all(node.pes().size());
  const auto fds = node.exchange_fds(file.get(), &mine, sizeof mine, all.data(), "files");
  if (!fds) return end_of(fds);
  REQUIRE(fds->size() == node.pes().size());
  for (std::size_t i = 0; i < fds->size(); ++i) {
    const int other = static_cast<int>(i);
    REQUIRE(all[i] == 100 + other);
    if (other == pe || other % 2 == 1) {
      REQUIRE((*fds)[i].get() == -1);
      continue;
    }
    int content = -1;
    REQUIRE(::pread((*fds)[i].get(), &content, sizeof content, 0) == sizeof content);
    REQUIRE(content == other);
    REQUIRE((::fcntl((*fds)[i].get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
  return "";
}

std::vector<std::string> run_node_that_passes_files(int n_pes) {
  return run_node(n_pes, [](bootstrap::Exchange& exchange, node::Node& node) -> std::string {
    for (int round = 0; round < 3; ++round) {
      if (auto end = pass_files(node, exchange.pe()); !end.empty()) return end;
    }
    return "";
  });
}

TEST(Node, PassesDescriptors) {
  for (const int n_pes : {1, 5, 64}) EXPECT_THAT(run_node_that_passes_files(n_pes), Each(std::string())) << n_pes;
}

TEST(Node, ReportsDifferentSizesAndContinues) {
  const auto ends = run_node(3, [](bootstrap::Exchange& exchange, node::Node& node) -> std::string {
    const char bytes[257] = {};
    char all[3 * 257];
    const std::size_t size = exchange.pe() == 1 ? 8 : 16;
    const auto failed = end_of(node.exchange_fds(-1, bytes, size, all, "heap chunk"));
    const auto refused = end_of(node.exchange_fds(-1, bytes, sizeof bytes, all, "too much"));
    REQUIRE(refused.rfind(begins_with(EINVAL), 0) == 0);
    return failed + pass_files(node, exchange.pe());
  });
  EXPECT_THAT(
      ends, Each(failed_with(EPROTO,
                             "PE 1 exchanges 8 bytes for 'heap chunk', but PE 0 exchanges 16 bytes for 'heap chunk'")));
}

TEST(Node, AllPesReportDifferentAreaSizes) {
  const auto ends = run_pes(3, long_limit, [](bootstrap::Exchange& exchange) {
    return end_of(node::Node::join(exchange, exchange.pe() == 2 ? 4096 : 8192, long_limit));
  });
  EXPECT_THAT(ends, Each(HasSubstr("PE 2 requests 4096 bytes, but PE 0 requests 8192")));
}

TEST(Node, AllPesReportAnImpossibleAreaSize) {
  const auto ends = run_pes(2, long_limit, [](bootstrap::Exchange& exchange) {
    return end_of(node::Node::join(exchange, SIZE_MAX / 8, long_limit));
  });
  EXPECT_THAT(ends, Each(HasSubstr("memory for the PEs of this node")));
}

TEST(Node, ReportsADeadPeUnlessItLeft) {
  for (const bool leaves : {false, true}) {
    const auto ends = run_pes(3, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
      auto node = node::Node::join(exchange, area_bytes, long_limit);
      if (!node) return end_of(node);
      if (exchange.pe() == 1) {
        if (leaves) (*node)->leave();
        node->reset();
      }
      if (auto end = gather_and_check(exchange, 0, "after"); !end.empty()) return end;
      if (exchange.pe() != 1) {
        REQUIRE(!(*node)->is_alive(1));
        REQUIRE((*node)->is_alive(0) && (*node)->is_alive(2));
        REQUIRE((*node)->first_dead() == (leaves ? -1 : 1));
      }
      return gather_and_check(exchange, 0, "all have checked");
    });
    EXPECT_THAT(ends, Each(std::string()));
  }
}

TEST(Node, ReportsAPeThatLeftDuringDescriptorPassing) {
  for (const int gone : {0, 2}) {
    auto ends = run_node(3, [&](bootstrap::Exchange& exchange, node::Node& node) -> std::string {
      return exchange.pe() == gone ? "left" : pass_files(node, exchange.pe());
    });
    ends.erase(ends.begin() + gone);
    EXPECT_THAT(ends, Each(failed_with(ECONNRESET, "PE " + std::to_string(gone))));
  }
}

base::UniqueFd connect_unknown_peer(const std::string& name) {
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);  // the first byte of an abstract name is 0
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return socket;
}

TEST(Node, IgnoresForeignConnectionsToItsSocket) {
  std::vector<base::UniqueFd> unknown_peers;
  const auto ends = run_pes(3, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
    if (exchange.pe() == 2) {
      // The sockets of PEs 0 and 1 listen, and both wait for this PE.
      std::vector<std::string> names;
      for (const bootstrap::Deadline deadline(20s); names.size() < 2 && !deadline.has_passed();) {
        std::this_thread::sleep_for(1ms);
        names = own_local_names();
      }
      for (const std::string& name : names) {
        for (int i = 0; i < 3; ++i) {
          unknown_peers.push_back(connect_unknown_peer(name));
          if (i > 0) static_cast<void>(::send(unknown_peers.back().get(), "hello, is it me?", 16, MSG_NOSIGNAL));
        }
      }
      REQUIRE(unknown_peers.size() >= 6 && unknown_peers.front());
    }
    auto node = node::Node::join(exchange, area_bytes, long_limit);
    return node ? pass_files(**node, exchange.pe()) : end_of(node);
  });
  EXPECT_THAT(ends, Each(std::string()));
}

TEST(Node, LeaksNoDescriptors) {
  ASSERT_THAT(run_node_that_passes_files(4), Each(std::string()));
  const auto before = gdrkit::tests::count_process_resources();
  ASSERT_THAT(run_node_that_passes_files(4), Each(std::string()));
  EXPECT_EQ(gdrkit::tests::count_process_resources(), before);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) EXPECT_THAT(line, ::testing::Not(HasSubstr("gdrkit-shmem")));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
