// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "base/unique_fd.hpp"
#include "shmem/bootstrap/exchange.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool has_variable(const char* name) { return std::getenv(name) != nullptr; }

/// Of the first of the names that is set.
base::Result<int> number_in(std::initializer_list<const char*> names, std::optional<int> otherwise = {}) {
  for (const char* const name : names) {
    const std::string text = variable(name);
    if (text.empty()) continue;
    if (text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) {
      return base::fail(EINVAL, "cannot join the job: invalid %s=%s; use a number from 0 to 999999999", name,
                        text.c_str());
    }
    return std::stoi(text);
  }
  if (otherwise) return *otherwise;
  return base::fail(
      EINVAL,
      "cannot join the job: environment variable %s is not set; set %s, or unset the launcher's other variables",
      *names.begin(), *names.begin());
}

struct LauncherVariables {
  const char* launcher;
  const char* pe;
  const char* n_pes;
  std::initializer_list<const char*> local_index;
  const char* also;  ///< a variable that must be set too; nullptr: none
};

/// Inner launchers first: torchrun runs in a step of srun's, and leaves the step's variables as they were.
const LauncherVariables launchers[] = {
    {"gdrkit run", "GDRKIT_SHMEM_PE", "GDRKIT_SHMEM_NPES", {"GDRKIT_SHMEM_LOCAL_INDEX"}, nullptr},
    {"torchrun", "RANK", "WORLD_SIZE", {"LOCAL_RANK"}, "WORLD_SIZE"},
    {"mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"OMPI_COMM_WORLD_LOCAL_RANK"}, nullptr},
    {"mpirun (PMI)", "PMI_RANK", "PMI_SIZE", {"PMI_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID"}, nullptr},
    // A batch script has SLURM_PROCID and SLURM_NTASKS too, without being a step.
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", {"SLURM_LOCALID"}, "SLURM_STEP_NUM_TASKS"},
};

base::Status read_torchrun(LaunchEnvironment* found) {
  const std::string address = variable("MASTER_ADDR");
  if (address.empty()) return {};
  const auto port = number_in({"MASTER_PORT"});
  if (!port) return base::pass(port);
  if (*port < 1 || *port > 65534)
    return base::fail(EINVAL, "cannot join the job: invalid MASTER_PORT=%d; use a port from 1 to 65534", *port);
  const bool is_v6 = address.find(':') != std::string::npos;
  found->root = (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(*port + 1);
  return {};
}

/// Minimum length of a secret that cannot be guessed: 16 random hexadecimal digits have 64 bits, 32 have 128.
constexpr std::size_t shortest_token = 16;
constexpr const char* how_to_make_one = "generate a secret with openssl rand -hex 16";

base::Result<std::string> token_in_file(const std::string& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return base::fail(errno, "cannot read GDRKIT_SHMEM_TOKEN_FILE=%s: %s; use a file that this user can read",
                      path.c_str(), std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return base::fail(EACCES,
                      "cannot use GDRKIT_SHMEM_TOKEN_FILE=%s: the path must be a regular file that only this user can "
                      "access; create the file as this user with mode 600",
                      path.c_str());
  }
  char text[4096];
  const ssize_t size = ::read(file.get(), text, sizeof text);
  if (size < 0) {
    return base::fail(errno, "cannot read GDRKIT_SHMEM_TOKEN_FILE=%s: %s; use a file that this user can read",
                      path.c_str(), std::strerror(errno));
  }
  std::string token(text, static_cast<std::size_t>(size));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  return token;
}

base::Status read_token(LaunchEnvironment* found) {
  const char* name = "GDRKIT_SHMEM_TOKEN";
  if (has_variable(name)) {
    found->token = variable(name);
  } else if (has_variable("GDRKIT_SHMEM_TOKEN_FILE")) {
    name = "GDRKIT_SHMEM_TOKEN_FILE";
    auto token = token_in_file(variable(name));
    if (!token) return base::pass(token);
    found->token = std::move(*token);
  } else {
    return {};
  }
  if (found->token.size() >= shortest_token) return {};
  return base::fail(EINVAL, "cannot use %s: the secret has %zu characters, but needs at least %zu; %s", name,
                    found->token.size(), shortest_token, how_to_make_one);
}

}  // namespace

base::Result<LaunchEnvironment> read_launch_environment() noexcept try {
  LaunchEnvironment found;
  for (const LauncherVariables& names : launchers) {
    const bool is_first = &names == &launchers[0];
    if (!has_variable(names.pe) && !(is_first && has_variable(names.n_pes))) continue;
    if (names.also != nullptr && !has_variable(names.also)) continue;
    found.launcher = names.launcher;
    const auto pe = number_in({names.pe});
    if (!pe) return base::pass(pe);
    const auto n_pes = number_in({names.n_pes});
    if (!n_pes) return base::pass(n_pes);
    const auto local_index = number_in(names.local_index, 0);
    if (!local_index) return base::pass(local_index);
    if (*pe >= *n_pes) {
      return base::fail(EINVAL,
                        "cannot join the job: the PE number (%s=%d) must be less than the number of PEs (%s=%d); "
                        "correct or unset both variables",
                        names.pe, *pe, names.n_pes, *n_pes);
    }
    found.pe = *pe;
    found.n_pes = *n_pes;
    found.local_index = *local_index;
    break;
  }
  if (found.launcher == "torchrun") {
    if (auto read = read_torchrun(&found); !read) return base::pass(read);
  }
  // The user can set the address of PE 0 if the launcher does not.
  if (has_variable("GDRKIT_SHMEM_ROOT")) found.root = variable("GDRKIT_SHMEM_ROOT");
  if (auto read = read_token(&found); !read) return base::pass(read);
  if (found.launcher == launchers[0].launcher && found.pe == 0) {
    const auto listener = number_in({"GDRKIT_SHMEM_LISTEN_FD"}, -1);
    if (!listener) return base::pass(listener);
    found.listen_fd = *listener;
  }
  return found;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while reading the launcher's environment");
}

}  // namespace gdrkit::shmem_impl::bootstrap
