// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PEs as processes of their own, of which one is killed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "base/cpu_set.hpp"
#include "shmem/bootstrap/deadline.hpp"
#include "shmem/node/node.hpp"
#include "tests/shmem/bootstrap/processes_as_pes.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"
#include "tests/shmem/node/local_names.hpp"

extern char** environ;

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void kill_self() { ::kill(::getpid(), SIGKILL); }

/// Kills its process before or after one of the steps.
class FatalExchange final : public bootstrap::Exchange {
 public:
  FatalExchange(bootstrap::Exchange& exchange, int point, std::function<void()> die = kill_self)
      : exchange_(exchange), point_(point), die_(std::move(die)) {}
  int pe() const noexcept override { return exchange_.pe(); }
  int n_pes() const noexcept override { return exchange_.n_pes(); }
  base::Status allgather(const void* mine, std::size_t size_bytes, void* all, const char* step) noexcept override {
    if (next_++ == point_) die_();
    auto done = exchange_.allgather(mine, size_bytes, all, step);
    if (next_++ == point_) die_();
    return done;
  }

 private:
  bootstrap::Exchange& exchange_;
  int point_;
  std::function<void()> die_;
  int next_ = 0;
};

/// Returns the observation of a PE after a death: "PE 2 is dead". Then it leaves, so that its own end is not reported.
std::string wait_for_death(node::Node& node) {
  for (const bootstrap::Deadline deadline(20s); !deadline.has_passed();) {
    if (const int dead = node.first_dead(); dead >= 0) {
      node.leave();
      return node.is_alive(dead) ? "contradiction" : "PE " + std::to_string(dead) + " is dead";
    }
    std::this_thread::sleep_for(1ms);
  }
  return "all alive";
}

/// Joins with an exchange of four; the exchange stays until the end.
std::vector<std::string> run_nodes(const std::function<std::string(bootstrap::Exchange& exchange)>& as_pe) {
  const auto id = bootstrap::make_unique_id();
  EXPECT_TRUE(id) << id.error().text();
  return run_processes(4, [&](int pe) -> std::string {
    auto exchange = bootstrap::exchange_by_unique_id(*id, pe, 4, long_limit);
    return exchange ? as_pe(**exchange) : end_of(exchange);
  });
}

/// Points: around the steps "finding the node of each PE", "connecting the PEs of each node" and "starting each node",
/// between which all else happens.
TEST(NodeProcesses, ReportsAPeKilledWhileJoining) {
  for (const int killed : {0, 2}) {
    for (int point = 0; point < 6; ++point) {
      auto ends = run_nodes([&](bootstrap::Exchange& exchange) -> std::string {
        FatalExchange fatal(exchange, exchange.pe() == killed ? point : -1);
        auto node = node::Node::join(fatal, 4096, long_limit);
        return node ? wait_for_death(**node) : end_of(node);
      });
      SCOPED_TRACE("PE " + std::to_string(killed) + " killed at point " + std::to_string(point));
      EXPECT_EQ(ends[static_cast<std::size_t>(killed)], "signal 9");
      ends.erase(ends.begin() + killed);
      const std::string name = "PE " + std::to_string(killed);
      EXPECT_THAT(ends, Each(HasSubstr(name)));
      if (point == 5) {
        EXPECT_THAT(ends, Each(name + " is dead"));
      }
    }
  }
}

/// Of a job whose PE 2 gets killed after `before_death`, what the others see.
void expect_death_is_seen(const std::function<void()>& before_death) {
  const auto ends = run_nodes([&](bootstrap::Exchange& exchange) -> std::string {
    auto node = node::Node::join(exchange, 4096, long_limit);
    if (!node) return end_of(node);
    if ((*node)->first_dead() != -1) return "dead too early";
    if (auto end = gather_and_check(exchange, 0, "checked"); !end.empty()) return end;
    if (exchange.pe() == 2) {
      before_death();
      kill_self();
    }
    return wait_for_death(**node);
  });
  EXPECT_THAT(ends, ElementsAre("PE 2 is dead", "PE 2 is dead", "signal 9", "PE 2 is dead"));
}

TEST(NodeProcesses, AKilledPeIsDead) {
  expect_death_is_seen([] {});
}

TEST(NodeProcesses, AForkedChildDoesNotKeepItAlive) {
  expect_death_is_seen([] {
    if (::fork() == 0) {
      ::sleep(60);
      ::_exit(0);
    }
  });
}

/// posix_spawn runs no fork handlers.
TEST(NodeProcesses, ASpawnedProgramDoesNotKeepItAlive) {
  expect_death_is_seen([] {
    char name[] = "sleep";
    char seconds[] = "60";
    char* words[] = {name, seconds, nullptr};
    pid_t id = -1;
    if (::posix_spawnp(&id, name, nullptr, nullptr, words, environ) != 0) ::_exit(3);
  });
}

/// Limits the descriptors of this process to numbers below `most` during its lifetime. The undefined-behaviour
/// sanitizer opens files when it checks an object for the first time.
class FileLimit {
 public:
  explicit FileLimit(rlim_t most) {
    if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) ::_exit(4);
    const rlimit limit{most, before_.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(4);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// The lowest number that no file has.
rlim_t next_file() {
  const base::UniqueFd next(::dup(2));
  return static_cast<rlim_t>(next.get());
}

TEST(NodeProcesses, ReportsAPeWithoutFreeDescriptors) {
  for (const int poor : {0, 2}) {
    const auto ends = run_nodes([&](bootstrap::Exchange& exchange) -> std::string {
      auto node = node::Node::join(exchange, 4096, long_limit);
      if (!node) return end_of(node);
      std::optional<FileLimit> limit;
      if (exchange.pe() == poor) limit.emplace(next_file() + 1);
      const int mine = exchange.pe();
      std::vector<int> all(4);
      const auto fds = (*node)->exchange_fds(1, &mine, sizeof mine, all.data(), "heap chunk");
      if (auto end = gather_and_check(exchange, 0, "all have tried"); !end.empty()) return end;
      return end_of(fds);
    });
    EXPECT_THAT(ends[static_cast<std::size_t>(poor)], failed_with(EMFILE, "during 'heap chunk'", "ulimit -n"));
    // PE 0 collects for all PEs: if it fails, no PE receives a descriptor.
    if (poor == 0) {
      EXPECT_THAT(ends, Each(HasSubstr("PE 0 has too many open files to receive the file descriptor of PE")));
    }
  }
}

TEST(NodeProcesses, FirstPeReportsThatItsDescriptorLimitIsTooLow) {
  const auto ends = run_nodes([](bootstrap::Exchange& exchange) -> std::string {
    // Also for the undefined-behaviour sanitizer, which opens a pipe when it checks a class for the first time.
    if (auto end = gather_and_check(exchange, 0, "before the limit"); !end.empty()) return end;
    std::optional<FileLimit> limit;
    // Its listening socket and one connection.
    if (exchange.pe() == 0) limit.emplace(next_file() + 2);
    return end_of(node::Node::join(exchange, 4096, long_limit));
  });
  EXPECT_THAT(ends[0], failed_with(EMFILE, "one connection for each of 4 PEs"));
}

/// Linux bounds how many descriptors of a user are on their way: they go in turns then.
TEST(NodeProcesses, PassesManyDescriptorsUnderALowLimit) {
  constexpr int n_pes = 16;
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user, and no limit holds for root";
  const int cpu = ::sched_getcpu();
  const auto id = bootstrap::make_unique_id();
  ASSERT_TRUE(id) << id.error().text();
  const auto ends = run_processes(n_pes, [&](int pe) -> std::string {
    // On one processor, the sender before the receivers, so that much data is in flight.
    (void)base::CpuSet::of(cpu).apply();
    ::setpriority(PRIO_PROCESS, 0, pe == 0 ? -20 : 10);
    const FileLimit limit(128);
    if (::setgid(65534) != 0 || ::setuid(65534) != 0 || ::prctl(PR_SET_DUMPABLE, 1) != 0) return "still root";
    auto exchange = bootstrap::exchange_by_unique_id(*id, pe, n_pes, long_limit);
    if (!exchange) return end_of(exchange);
    auto node = node::Node::join(**exchange, 4096, long_limit);
    if (!node) return end_of(node);
    std::vector<int> all(n_pes);
    for (int round = 0; round < 5; ++round) {
      const auto fds = (*node)->exchange_fds(1, &pe, sizeof pe, all.data(), "many");
      if (!fds) return end_of(fds);
      for (int other = 0; other < n_pes; ++other) {
        if (((*fds)[static_cast<std::size_t>(other)].get() >= 0) != (other != pe)) return "a descriptor is missing";
      }
    }
    return "";
  });
  EXPECT_THAT(ends, Each(std::string()));
}

/// The state after the regular end of one PE, while others still check.
TEST(NodeProcesses, APeThatLeftAndExitedIsNotAnError) {
  const auto ends = run_nodes([&](bootstrap::Exchange& exchange) -> std::string {
    auto node = node::Node::join(exchange, 4096, long_limit);
    if (!node) return end_of(node);
    if (exchange.pe() == 2) {
      (*node)->leave();
      ::_exit(0);
    }
    for (const bootstrap::Deadline deadline(20s); (*node)->is_alive(2) && !deadline.has_passed();) {
      std::this_thread::sleep_for(1ms);
    }
    const int dead = (*node)->first_dead();
    (*node)->leave();
    return (*node)->is_alive(2) ? "still alive" : std::to_string(dead);
  });
  EXPECT_THAT(ends, ElementsAre("-1", "-1", "", "-1"));
}

TEST(NodeProcesses, KilledPesLeaveNoSockets) {
  int names_pipe[2];
  ASSERT_EQ(::pipe2(names_pipe, O_CLOEXEC), 0);
  const auto ends = run_nodes([&](bootstrap::Exchange& exchange) {
    // While its sockets listen and are connected.
    FatalExchange fatal(exchange, 3, [&] {
      std::string own;
      for (const std::string& name : own_local_names()) own += name + "\n";
      if (::write(names_pipe[1], own.data(), own.size()) == static_cast<ssize_t>(own.size())) kill_self();
    });
    return end_of(node::Node::join(fatal, 1 << 20, long_limit));
  });
  ::close(names_pipe[1]);
  EXPECT_THAT(ends, Each("signal 9"));
  std::string text(65536, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(names_pipe[0], text.data(), text.size()))));
  ::close(names_pipe[0]);
  std::istringstream lines(text);
  std::set<std::string> left{std::istream_iterator<std::string>(lines), {}};
  EXPECT_THAT(left, ::testing::Not(::testing::IsEmpty()));
  for (const bootstrap::Deadline deadline(20s); !left.empty() && !deadline.has_passed();
       std::this_thread::sleep_for(5ms)) {
    const auto still = local_names();
    std::erase_if(left, [&](const std::string& name) {
      return std::ranges::none_of(still, [&](const auto& socket) { return socket.second == name; });
    });
  }
  EXPECT_THAT(left, ::testing::IsEmpty());
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
