// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "shmem/bootstrap/tcp_address.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::Each;

constexpr const char* all_names =
    "GDRKIT_SHMEM_PE GDRKIT_SHMEM_NPES GDRKIT_SHMEM_LOCAL_INDEX GDRKIT_SHMEM_ROOT GDRKIT_SHMEM_LISTEN_FD "
    "GDRKIT_SHMEM_TOKEN GDRKIT_SHMEM_TOKEN_FILE RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT "
    "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK PMI_RANK PMI_SIZE PMI_LOCAL_RANK "
    "MPI_LOCALRANKID SLURM_PROCID SLURM_STEP_NUM_TASKS SLURM_LOCALID TORCHELASTIC_RUN_ID "
    "TORCHELASTIC_RESTART_COUNT PMIX_NAMESPACE PMI_FD";

using Settings = std::vector<std::pair<const char*, std::string>>;

/// Only these variables are set while it lives.
class Variables {
 public:
  explicit Variables(const Settings& set) {
    unset_all();
    for (const auto& [name, value] : set) ::setenv(name, value.c_str(), 1);
  }
  ~Variables() { unset_all(); }

 private:
  static void unset_all() {
    std::istringstream names(all_names);
    for (std::string name; names >> name;) ::unsetenv(name.c_str());
  }
};

TEST(LaunchEnvironment, IsAJobOfOnePeWithoutALauncher) {
  const Variables none({});
  const auto found = bootstrap::read_launch_environment().value();
  EXPECT_EQ(end_of(bootstrap::exchange_by_environment(found, 1s)), "");
}

TEST(LaunchEnvironment, ReadsTheVariablesOfEachLauncher) {
  const struct {
    Settings set;
    bootstrap::LaunchEnvironment expected;
  } cases[] = {
      {{}, {}},
      {{{"GDRKIT_SHMEM_PE", "0"},
        {"GDRKIT_SHMEM_NPES", "4"},
        {"GDRKIT_SHMEM_LOCAL_INDEX", "0"},
        {"GDRKIT_SHMEM_ROOT", "127.0.0.1:5"},
        {"GDRKIT_SHMEM_TOKEN", "0123456789abcdef"},
        {"GDRKIT_SHMEM_LISTEN_FD", "7"},
        {"RANK", "3"},
        {"WORLD_SIZE", "9"}},
       {.launcher = "gdrkit run", .n_pes = 4, .root = "127.0.0.1:5", .token = "0123456789abcdef", .listen_fd = 7}},
      // torchrun takes precedence over the Slurm step in which it runs.
      {{{"RANK", "5"},
        {"WORLD_SIZE", "8"},
        {"LOCAL_RANK", "1"},
        {"MASTER_ADDR", "fd00::1"},
        {"MASTER_PORT", "29500"},
        {"SLURM_PROCID", "1"},
        {"SLURM_STEP_NUM_TASKS", "2"}},
       {.launcher = "torchrun", .pe = 5, .n_pes = 8, .local_index = 1, .root = "[fd00::1]:29501"}},
      {{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
       {.launcher = "mpirun (Open MPI)", .pe = 1, .n_pes = 2, .local_index = 1}},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}},
       {.launcher = "mpirun (PMI)", .pe = 1, .n_pes = 2, .local_index = 1}},
      {{{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"GDRKIT_SHMEM_ROOT", "node1:4711"}},
       {.launcher = "srun", .pe = 3, .n_pes = 4, .root = "node1:4711"}},
      // A batch script is not a step.
      {{{"SLURM_PROCID", "0"}}, {}},
  };
  for (const auto& [set, expected] : cases) {
    SCOPED_TRACE(::testing::PrintToString(set));
    const Variables variables(set);
    const auto found = bootstrap::read_launch_environment().value();
    EXPECT_EQ(found.launcher, expected.launcher);
    EXPECT_EQ(found.pe, expected.pe);
    EXPECT_EQ(found.n_pes, expected.n_pes);
    EXPECT_EQ(found.local_index, expected.local_index);
    EXPECT_EQ(found.root, expected.root);
    EXPECT_EQ(found.token, expected.token);
    EXPECT_EQ(found.listen_fd, expected.listen_fd);
  }
}

TEST(LaunchEnvironment, ReportsConflictingVariables) {
  const struct {
    Settings set;
    const char* text;
  } cases[] = {
      {{{"GDRKIT_SHMEM_PE", "4"}, {"GDRKIT_SHMEM_NPES", "4"}},
       "the PE number (GDRKIT_SHMEM_PE=4) must be less than the number of PEs (GDRKIT_SHMEM_NPES=4)"},
      {{{"GDRKIT_SHMEM_PE", "x"}, {"GDRKIT_SHMEM_NPES", "4"}}, "invalid GDRKIT_SHMEM_PE=x; use a number"},
      {{{"GDRKIT_SHMEM_PE", "0"}}, "GDRKIT_SHMEM_NPES is not set"},
      {{{"GDRKIT_SHMEM_NPES", "2"}}, "GDRKIT_SHMEM_PE is not set"},
      {{{"OMPI_COMM_WORLD_RANK", "-1"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
       "invalid OMPI_COMM_WORLD_RANK=-1; use a number"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "65535"}}, "MASTER_PORT=65535"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}}, "MASTER_PORT is not set"},
  };
  for (const auto& one : cases) {
    const Variables set(one.set);
    EXPECT_THAT(end_of(bootstrap::read_launch_environment()), failed_with(EINVAL, one.text));
  }
}

/// As launchers start PEs: each has the address of the root, and PE 0 may have a listener.
std::vector<std::string> run_at_root(bool has_listener, int rounds, const std::string& token) {
  auto listener = bootstrap::listen_at(bootstrap::address_of_interface("lo").value()).value();
  const std::string root = bootstrap::address_of(listener.get()).value().text();
  if (!has_listener) listener = base::UniqueFd();
  return run_threads(3, [&](int pe) {
    bootstrap::LaunchEnvironment environment;
    environment.launcher = "a test";
    environment.pe = pe;
    environment.n_pes = 3;
    environment.root = root;
    environment.token = token;
    environment.listen_fd = pe == 0 ? listener.release() : -1;
    std::string end;
    for (int round = 0; round < rounds && end.empty(); ++round) {
      auto exchange = bootstrap::exchange_by_environment(environment, long_limit);
      end = exchange ? gather_and_check(**exchange, round, "numbers") : end_of(exchange);
    }
    return end;
  });
}

TEST(LaunchEnvironment, RunsSuccessiveJobsOnAnInheritedListener) {
  EXPECT_THAT(run_at_root(true, 3, "0123456789abcdef"), Each(std::string()));
}

TEST(LaunchEnvironment, PeZeroListensOnTheRootAddress) {
  EXPECT_THAT(run_at_root(false, 2, "0123456789abcdef"), Each(std::string()));
}

TEST(LaunchEnvironment, PesOfOneUserConnectWithoutAToken) {
  EXPECT_THAT(run_at_root(false, 2, ""), Each(std::string()));
}

TEST(LaunchEnvironment, DoesNotContactOtherNodesWithoutAToken) {
  for (const int pe : {0, 1}) {
    bootstrap::LaunchEnvironment environment;
    environment.launcher = "torchrun";
    environment.pe = pe;
    environment.n_pes = 2;
    environment.root = "192.0.2.1:4711";  // of no machine (RFC 5737)
    EXPECT_THAT(end_of(bootstrap::exchange_by_environment(environment, long_limit)),
                failed_with(EACCES, "torchrun provides no secret", "set GDRKIT_SHMEM_TOKEN"));
  }
}

TEST(LaunchEnvironment, RejectsAShortToken) {
  const Variables set({{"GDRKIT_SHMEM_PE", "0"}, {"GDRKIT_SHMEM_NPES", "2"}, {"GDRKIT_SHMEM_TOKEN", "secret"}});
  EXPECT_THAT(end_of(bootstrap::read_launch_environment()),
              failed_with(EINVAL, "cannot use GDRKIT_SHMEM_TOKEN: the secret has 6 characters"));
}

TEST(LaunchEnvironment, ReadsAFileThatOnlyThisUserCanRead) {
  const std::string path = ::testing::TempDir() + "gdrkit_token_" + std::to_string(::getpid());
  const Variables set({{"GDRKIT_SHMEM_PE", "0"}, {"GDRKIT_SHMEM_NPES", "2"}, {"GDRKIT_SHMEM_TOKEN_FILE", path}});
  EXPECT_THAT(end_of(bootstrap::read_launch_environment()), failed_with(ENOENT));
  std::ofstream(path) << "0123456789abcdef0123\n";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(bootstrap::read_launch_environment().value().token, "0123456789abcdef0123");
  for (const mode_t mode : {mode_t{0640}, mode_t{0604}, mode_t{0620}}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_THAT(end_of(bootstrap::read_launch_environment()), failed_with(EACCES, "with mode 600"));
  }
  ::unlink(path.c_str());
}

TEST(LaunchEnvironment, ReportsTheVariableToSetIfTheLauncherSetsNone) {
  const Variables set({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}});
  EXPECT_THAT(end_of(bootstrap::exchange_by_environment(bootstrap::read_launch_environment().value(), 1s)),
              failed_with(ENOTSUP, "cannot get the address of PE 0 from srun", "set GDRKIT_SHMEM_ROOT=host:port"));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
