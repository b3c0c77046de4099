// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Under the launchers that this machine has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>

#include "shmem/bootstrap/launcher_store.hpp"
#include "tests/shmem/bootstrap/processes_as_pes.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

struct Ended {
  int status = -1;
  std::string output;
};

/// Leaks are not checked in the programs, because libpmix leaks. TMPDIR: two concurrent mpirun of Open MPI make the
/// same session directory, and one fails. The agents are set because Open MPI requires an ssh client, which PEs on one
/// machine do not need use.
Ended run_command(const std::string& command) {
  Ended ended;
  const std::string apart =
      "export ASAN_OPTIONS=detect_leaks=0 OMPI_MCA_plm_rsh_agent=true "
      "PRTE_MCA_plm_ssh_agent=true TMPDIR=$(mktemp -d); (" +
      command + ") 2>&1 < /dev/null; status=$?; rm -rf \"$TMPDIR\"; exit $status";
  FILE* const pipe = ::popen(apart.c_str(), "r");
  if (pipe == nullptr) return ended;
  char bytes[4096];
  for (std::size_t got; (got = ::fread(bytes, 1, sizeof bytes, pipe)) > 0;) ended.output.append(bytes, got);
  ended.status = ::pclose(pipe);
  return ended;
}

bool has_program(const char* name) {
  return run_command(std::string("command -v ") + name + " > /dev/null").status == 0;
}

void expect_three_pes(const Ended& ended, const std::string& launcher) {
  EXPECT_EQ(ended.status, 0) << ended.output;
  for (const char* pe : {"PE 0 of 3", "PE 1 of 3", "PE 2 of 3"}) {
    EXPECT_THAT(ended.output, HasSubstr(pe + (" by " + launcher)));
  }
}

TEST(Launchers, OpenMpiStartsAJob) {
  if (!has_program("mpirun.openmpi")) GTEST_SKIP() << "no mpirun.openmpi (Debian: openmpi-bin)";
  expect_three_pes(run_command("mpirun.openmpi --allow-run-as-root --oversubscribe -n 3 " LAUNCHED_PE),
                   "mpirun (Open MPI)");
}

TEST(Launchers, WaitForOpenMpisPmixTimesOut) {
  if (!has_program("mpirun.openmpi")) GTEST_SKIP() << "no mpirun.openmpi (Debian: openmpi-bin)";
  const Ended ended = run_command("mpirun.openmpi --allow-run-as-root --oversubscribe -n 3 " LAUNCHED_PE " absent");
  EXPECT_NE(ended.status, 0);
  EXPECT_THAT(ended.output, AllOf(HasSubstr("not all PEs used PMIx within 1 s"), HasSubstr("GDRKIT_SHMEM_ROOT")));
}

TEST(Launchers, HydraStartsAJob) {
  if (!has_program("mpiexec.hydra")) GTEST_SKIP() << "no mpiexec.hydra (Debian: mpich)";
  expect_three_pes(run_command("mpiexec.hydra -n 3 " LAUNCHED_PE), "mpirun (PMI)");
}

TEST(Launchers, TorchrunsVariablesStartAJob) {
  const std::string each =
      "for rank in 0 1 2; do RANK=$rank WORLD_SIZE=3 LOCAL_RANK=$rank " LAUNCHED_PE " & done; wait";
  const int port = 20000 + static_cast<int>(::getpid()) % 20000;
  expect_three_pes(run_command("export MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(port) + "; " + each),
                   "torchrun");
}

/// hydra's side of PMI-1 for `n_pes` processes, as far as it is used; ends when they have closed.
class PmiServer {
 public:
  explicit PmiServer(int n_pes) {
    for (int pe = 0; pe < n_pes; ++pe) {
      std::array<int, 2> ends{-1, -1};
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) ADD_FAILURE() << "socketpair";
      clients_.push_back(base::UniqueFd(ends[1]));
      servers_.push_back(base::UniqueFd(ends[0]));
    }
  }
  [[nodiscard]] int client(int pe) const { return clients_[static_cast<std::size_t>(pe)].get(); }

  /// In the process of that PE: its connection in PMI_FD, and no other open, as the sockets of others would keep the
  /// server.
  int become_client(int pe) {
    const int own = ::dup(client(pe));
    *this = PmiServer(0);
    ::setenv("PMI_FD", std::to_string(own).c_str(), 1);
    return own;
  }

  /// Runs in a separate process. Returns the received commands, in order.
  std::string serve() {
    clients_.clear();
    std::size_t waiting = 0;
    std::vector<std::string> unread(servers_.size());
    for (std::size_t open = servers_.size(); open > 0;) {
      for (std::size_t i = 0; i < servers_.size(); ++i) {
        char bytes[1000];
        const ssize_t got = ::recv(servers_[i].get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (got == 0) {
          servers_[i] = base::UniqueFd();
          --open;
        }
        if (got > 0) unread[i].append(bytes, static_cast<std::size_t>(got));
        for (std::size_t end; (end = unread[i].find('\n')) != std::string::npos;) {
          reply(i, unread[i].substr(0, end), &waiting);
          unread[i].erase(0, end + 1);
        }
      }
      ::usleep(500);
    }
    return commands_;
  }

 private:
  void send_line(std::size_t i, const std::string& line) {
    static_cast<void>(::send(servers_[i].get(), (line + "\n").data(), line.size() + 1, MSG_NOSIGNAL));
  }

  void reply(std::size_t i, const std::string& line, std::size_t* waiting) {
    const auto word = [&](const std::string& name) {
      const std::size_t at = line.find(name + "=");
      return at == std::string::npos ? ""
                                     : line.substr(at + name.size() + 1, line.find(' ', at) - at - name.size() - 1);
    };
    const std::string command = word("cmd");
    commands_ += command + " ";
    if (command == "init") send_line(i, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    if (command == "get_my_kvsname") send_line(i, "cmd=my_kvsname kvsname=kvs_7");
    if (command == "put") {
      values_[word("key")] = word("value");
      send_line(i, "cmd=put_result rc=0 msg=success");
    }
    if (command == "get") {
      const auto found = values_.find(word("key"));
      send_line(i, found == values_.end() ? "cmd=get_result rc=-1 msg=unknown"
                                          : "cmd=get_result rc=0 msg=success value=" + found->second);
    }
    if (command == "barrier_in" && ++*waiting == servers_.size()) {
      *waiting = 0;
      for (std::size_t one = 0; one < servers_.size(); ++one) send_line(one, "cmd=barrier_out rc=0");
    }
    if (command == "finalize") send_line(i, "cmd=finalize_ack rc=0");
  }

  std::vector<base::UniqueFd> clients_;
  std::vector<base::UniqueFd> servers_;
  std::map<std::string, std::string> values_;
  std::string commands_;
};

std::vector<std::string> share_over_pmi(int n_pes, std::chrono::milliseconds limit, int absent) {
  PmiServer server(n_pes);
  auto ends = run_processes(
      n_pes + 1,
      [&](int pe) -> std::string {
        if (pe == n_pes) return server.serve();
        server.become_client(pe);
        if (pe == absent) return "absent";
        std::string all;
        for (const char* key : {"one", "two"}) {
          const auto value = bootstrap::share_by_pmi1(pe, key, pe == 0 ? std::string("value-of-") + key : "", limit);
          all += value ? *value + " " : end_of(value);
          if (!value) break;
        }
        return all;
      },
      [&] { server = PmiServer(0); });
  ends.pop_back();
  return ends;
}

TEST(Pmi, SharesSuccessiveValues) {
  EXPECT_THAT(share_over_pmi(3, long_limit, -1), Each("value-of-one value-of-two "));
}

TEST(Pmi, TimesOutIfAPeIsMissing) {
  const auto ends = share_over_pmi(3, 200ms, 1);
  for (const std::size_t pe : {0U, 2U}) EXPECT_THAT(ends[pe], failed_with(ETIMEDOUT, "PMI"));
}

/// The commands that the server got from one PE, which runs `before`, shares a value, runs `after`, and exits.
std::string commands_of_pe_that_exits(const std::function<void(int socket)>& before,
                                      const std::function<void(int socket)>& after) {
  PmiServer server(1);
  const auto ends = run_processes(
      2,
      [&](int pe) -> std::string {
        if (pe == 1) return server.serve();
        const int own = server.become_client(0);
        before(own);
        const auto value = bootstrap::share_by_pmi1(0, "one", "value", long_limit);
        after(own);
        std::exit(value ? 0 : 1);
      },
      [&] { server = PmiServer(0); });
  EXPECT_EQ(ends[0], "");
  return ends[1];
}

int socket_of_handler = -1;

/// MPICH 4.2 finalizes PMI in such a handler, and SIGPIPE ends the process if ours ran before.
TEST(Pmi, FinalizesAfterTheHandlersOfAtexit) {
  const auto add_handler = [](int socket) {
    socket_of_handler = socket;
    std::atexit([] { static_cast<void>(::send(socket_of_handler, "cmd=handler\n", 12, MSG_NOSIGNAL)); });
  };
  EXPECT_EQ(commands_of_pe_that_exits(add_handler, [](int) {}), "init get_my_kvsname put barrier_in handler finalize ");
}

TEST(Pmi, WritesNothingToADescriptorThatIsReused) {
  std::array<int, 2> others{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, others.data()), 0);
  EXPECT_EQ(commands_of_pe_that_exits([](int) {}, [&](int socket) { ::dup2(others[1], socket); }),
            "init get_my_kvsname put barrier_in ");
  char byte = 0;
  EXPECT_EQ(::recv(others[0], &byte, 1, MSG_DONTWAIT), -1);
  for (const int one : others) ::close(one);
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
