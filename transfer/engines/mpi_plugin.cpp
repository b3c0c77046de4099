// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/mpi_plugin.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/result.hpp"
#include "cli/interface/device_choice.hpp"
#include "cli/interface/exit_code.hpp"
#include "osu_mpi_plugin_source.hpp"

namespace gdrkit::transfer::engines {
namespace {

struct KnownMpi {
  const char* name;
  const char* file;
  const char* variable;  ///< of its launcher
  const char* packages;  ///< Debian's: to run this MPI, and to build its plug-in
};
constexpr KnownMpi known_mpis[] = {
    {"Open MPI", "gdrkit_osu_openmpi.so", "OMPI_COMM_WORLD_SIZE", "openmpi-bin and libopenmpi-dev"},
    {"MPICH", "gdrkit_osu_mpich.so", "PMI_RANK", "mpich and libmpich-dev"},
    // Set by srun --mpi=pmix for Open MPI's processes.
    {"Open MPI", "gdrkit_osu_openmpi.so", "PMIX_RANK", "openmpi-bin and libopenmpi-dev"},
};

constexpr const char* build_command =
    "gdrkit osu --mpi-plugin-source | mpicc -O2 -shared -fPIC -o gdrkit_osu_mpi.so -x c - (then add --mpi-plugin "
    "./gdrkit_osu_mpi.so)";

[[noreturn]] void cannot_run(const std::string& text) { cli::cannot_run("gdrkit osu: --engine mpi: " + text); }

const KnownMpi& started_by() {
  for (const KnownMpi& mpi : known_mpis) {
    if (std::getenv(mpi.variable) != nullptr) return mpi;
  }
  cannot_run(
      "no MPI launcher started this process; start the ranks with mpirun or srun, for example: mpirun -n 2 gdrkit osu "
      "latency --engine mpi");
}

std::string directory_of_program() {
  std::error_code error;
  const std::string text = std::filesystem::read_symlink("/proc/self/exe", error);
  return text.substr(0, text.rfind('/') + 1);
}

/// Returns the path in the build directory or in the installation.
std::string installed_file(const KnownMpi& mpi) {
  for (const char* const directory : {"../lib/gdrkit/", GDRKIT_OSU_PLUGIN_DIRECTORY}) {
    std::string file = directory_of_program() + directory + mpi.file;
    if (::access(file.c_str(), R_OK) == 0) return file;
  }
  cannot_run(cli::format("gdrkit was built without a plug-in for %s; install %s and build the plug-in: %s", mpi.name,
                         mpi.packages, build_command));
}

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

const gdrkit_osu_mpi_table& load_mpi_plugin(const std::string& named) {
  const bool is_named = !named.empty();
  const std::string file = is_named ? named : installed_file(started_by());
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    cannot_run(cli::format("cannot load %s: %s; install %s", file.c_str(), why == nullptr ? "no reason given" : why,
                           is_named ? "the MPI for which this plug-in was built" : started_by().packages));
  }
  using Function = const gdrkit_osu_mpi_table* (*)();
  const auto function = reinterpret_cast<Function>(::dlsym(library, GDRKIT_OSU_MPI_SYMBOL));
  if (function == nullptr)
    cannot_run(
        cli::format("%s is not a plug-in of gdrkit; to build one for your MPI: %s", file.c_str(), build_command));
  const gdrkit_osu_mpi_table* const table = function();
  if (table->table_version != GDRKIT_OSU_MPI_TABLE_VERSION) {
    cannot_run(cli::format("the plug-in %s was built for another version of gdrkit; to build it again: %s",
                           file.c_str(), build_command));
  }
  return *table;
}

std::string mpi_plugin_source() { return plugin_source; }

MpiStart::MpiStart(const std::string& plugin) : gpu_(gpu_of_local_rank()), calls_(load_mpi_plugin(plugin)) {
  require(calls_.begin(&rank_, &ranks_), "MPI_Init");
  if (ranks_ > 1) return;
  const std::string name = version();
  require(calls_.end(), "MPI_Finalize");
  cli::cannot_run(cli::format("gdrkit osu: %s reports only one rank; start two or more ranks with the mpirun of %s",
                              name.c_str(), name.c_str()));
}

std::string MpiStart::version() const {
  const std::string text = calls_.version();
  return text.substr(0, text.find(','));
}

void MpiStart::fail(int code, const char* what) const {
  char text[512] = "";
  calls_.error_text(code, text, sizeof text);
  cli::fail(cli::format("gdrkit osu: %s failed: %s", what, text));
}

}  // namespace gdrkit::transfer::engines
