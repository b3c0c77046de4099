// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Environment: the settings of the libraries, from this process's variables and from configuration files, each with its
// origin. Effective settings precede those that they override.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

enum class CommLibrary { nccl, ucx, nvshmem, openmpi, mvapich2 };
inline constexpr CommLibrary all_libraries[] = {CommLibrary::nccl, CommLibrary::ucx, CommLibrary::nvshmem,
                                                CommLibrary::openmpi, CommLibrary::mvapich2};
[[nodiscard]] const char* name_of(CommLibrary library);
/// "NCCL_", the prefix of the library's variables.
[[nodiscard]] const char* prefix_of(CommLibrary library);

struct Setting {
  std::string name;    ///< as a variable, also if the file omits the prefix: OMPI_MCA_btl
  std::string value;   ///< as the library parses it, including blanks that it keeps
  std::string origin;  ///< path of a file; "" for the environment
  unsigned line = 0;   ///< in that file
  std::string
      section;  ///< of ucx.conf: the setting counts on machines that the section describes, perhaps not on this one

  [[nodiscard]] bool is_variable() const noexcept { return origin.empty(); }
  /// "the environment" or "/etc/nccl.conf, line 3"
  [[nodiscard]] std::string place() const;
};

class Environment {
 public:
  /// Reads /proc/self/environ, then the files that its variables name or that the libraries search for.
  explicit Environment(const topology::MachineView& view);

  /// The variables. Not found means that they are unknown; all() then contains only those of system-wide files.
  [[nodiscard]] const topology::Fact<bool>& variables() const noexcept { return variables_; }
  /// Files that exist and could not be read, one sentence each.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

  /// In order of precedence: of several settings of a name the first one counts.
  [[nodiscard]] const std::vector<Setting>& all() const noexcept { return settings_; }
  /// The effective setting, including "" and conditional ones; nullptr if there is none.
  [[nodiscard]] const Setting* find(const std::string& name) const;
  [[nodiscard]] std::vector<Setting> of(const std::string& name) const;
  /// Effective settings whose names begin with the library's prefix, by name.
  [[nodiscard]] std::vector<Setting> of(CommLibrary library) const;

 private:
  void read_variables(const topology::MachineView& view);
  void read_nccl(const topology::MachineView& view);
  void read_ucx(const topology::MachineView& view);
  void read_nvshmem(const topology::MachineView& view);
  void read_openmpi(const topology::MachineView& view);
  [[nodiscard]] std::string variable(const std::string& name) const;
  template <class Parse>
  void add_file(const topology::MachineView& view, const std::string& path, Parse parse, std::vector<Setting>* to);

  topology::Fact<bool> variables_;
  std::vector<std::string> problems_;
  std::vector<Setting> settings_;
};

/// The environment of this process, or of the one that made a recording.
using Variables = std::map<std::string, std::string>;

/// From /proc/self/environ. Absent counts as unreadable: every process has an environment.
[[nodiscard]] topology::Fact<Variables> read_variables(const topology::MachineView& view);

/// Launchers inherit the variables of the job manager that started them, so the job manager's come last.
inline constexpr const char* local_rank_variables[] = {"GDRKIT_SHMEM_LOCAL_INDEX",
                                                       "OMPI_COMM_WORLD_LOCAL_RANK",
                                                       "MV2_COMM_WORLD_LOCAL_RANK",
                                                       "PMI_LOCAL_RANK",
                                                       "MPI_LOCALRANKID",
                                                       "PALS_LOCAL_RANKID",
                                                       "LOCAL_RANK",
                                                       "SLURM_LOCALID",
                                                       "FLUX_TASK_LOCAL_ID"};

/// The first variable that contains the local rank of the process; "" if none is set.
[[nodiscard]] std::string local_rank_variable(const Variables& variables);

}  // namespace gdrkit::diag
