// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/mpi_start.hpp"

#include <cstdlib>

#include "base/result.hpp"
#include "cli/interface/device_choice.hpp"
#include "transfer/engines/mpi_plugin.hpp"

namespace gdrkit::transfer::engines {
namespace {

int local_rank_of_launcher() {
  for (const char* const name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID"}) {
    if (const char* const text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

/// The GPU that this process will also use in the job, because both count by local rank. MPIs with CUDA support may use
/// the context that is current when they start.
std::unique_ptr<platform::Device> gpu_of_local_rank() {
  const cli::DeviceChoice choice = cli::choose_device(cli::find_gpus());
  if (choice.is_emulated) return nullptr;
  const auto count = platform::cuda_device_count();
  if (!count || *count < 1) return nullptr;
  return cli::open_device(choice, local_rank_of_launcher() % *count);
}

}  // namespace

MpiStart::MpiStart(const std::string& plugin) : gpu_(gpu_of_local_rank()), calls_(load_mpi_plugin(plugin)) {
  require(calls_.begin(&rank_, &ranks_), "MPI_Init");
  if (ranks_ > 1) return;
  const std::string name = version();
  require(calls_.end(), "MPI_Finalize");
  throw cli::Failure(cli::ExitCode::cannot_run,
                     cli::format("gdrkit osu: %s reports only one rank; start two or more ranks with the mpirun of %s",
                                 name.c_str(), name.c_str()));
}

std::string MpiStart::version() const {
  const std::string text = calls_.version();
  return text.substr(0, text.find(','));
}

void MpiStart::fail(int code, const char* what) const {
  char text[512] = "";
  calls_.error_text(code, text, sizeof text);
  throw cli::Failure(cli::ExitCode::failed, cli::format("gdrkit osu: %s failed: %s", what, text));
}

}  // namespace gdrkit::transfer::engines
