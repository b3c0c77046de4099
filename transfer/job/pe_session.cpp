// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/job/pe_session.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "platform/vendor/ucx_library.hpp"

namespace gdrkit::transfer::job {
namespace {

/// Launchers that span machines: variables with the number of all ranks and of those on this machine.
constexpr const char* const rank_counts[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                                {"WORLD_SIZE", "LOCAL_WORLD_SIZE"},
                                                {"PMI_SIZE", "MPI_LOCALNRANKS"},
                                                {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"}};

/// Whether PEs may be on several machines. A guess before the PEs are connected. If it is wrong, a library is loaded
/// unnecessarily.
bool may_need_ucx() {
  const char* const is_apart = std::getenv("GDRKIT_SHMEM_DISABLE_P2P");
  if (is_apart != nullptr && std::strcmp(is_apart, "1") == 0) return true;
  if (std::getenv("GDRKIT_SHMEM_NPES") != nullptr) return false;  // gdrkit run: this machine
  for (const auto& [of_all, of_machine] : rank_counts) {
    const char* const all = std::getenv(of_all);
    const char* const here = std::getenv(of_machine);
    if (all != nullptr && here != nullptr && std::strcmp(all, here) != 0) return true;
  }
  return false;
}

}  // namespace

cli::DeviceChoice choose_device_after_ucx() {
  if (may_need_ucx()) platform::prepare_ucx_before_cuda();
  return cli::choose_device(cli::find_gpus());
}

std::string last_error(const std::string& what) { return what + ": " + gdrkit_shmem_last_error(); }

void require(int code, const char* what) {
  if (code < 0) cli::fail("gdrkit shmem: " + last_error(what));
}

PeSession::PeSession(const SessionRequest& request) : choice_(choose_device_after_ucx()) {
  gdrkit_shmem_options options{};
  options.struct_size = sizeof options;
  options.heap_bytes = request.heap_bytes;
  options.heap_max_bytes = request.heap_max_bytes;
  options.timeout_ms = request.timeout_ms;
  if (request.membership) {
    options.n_pes = request.membership->n_pes;
    options.pe = request.membership->pe;
    options.unique_id = &request.membership->id;
  }
  const int code = gdrkit_shmem_init(&options);
  if (code < 0) {
    throw cli::Failure(code == -ENODEV || code == -EOPNOTSUPP ? cli::ExitCode::cannot_run : cli::ExitCode::failed,
                       "gdrkit shmem: " + last_error("init"));
  }
  info_ = info();
  device_ = cli::open_device(choice_, info_.device);
}

void PeSession::end() {
  device_.reset();
  require(gdrkit_shmem_finalize(), "finalize");
}

gdrkit_shmem_info PeSession::info() const {
  gdrkit_shmem_info info{};
  info.struct_size = sizeof info;
  require(gdrkit_shmem_get_info(&info), "get_info");
  return info;
}

void start_job(int n_pes, const std::vector<std::string>& words) {
  std::error_code error;
  const std::string path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) cli::fail("gdrkit shmem: cannot read the path of this program: " + error.message());
  std::vector<std::string> all = {"gdrkit", "run", "-n", std::to_string(n_pes), "--", path};
  all.insert(all.end(), words.begin(), words.end());
  const std::vector<char*> pointers = cli::pointers_to(all);
  std::fflush(nullptr);
  ::execv(path.c_str(), pointers.data());
  cli::fail(cli::format("gdrkit shmem: cannot start %s: %s", path.c_str(), std::strerror(errno)));
}

}  // namespace gdrkit::transfer::job
