// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Environment: what is set for the libraries, in this process's variables and in their configuration files, each with
// its origin, the effective ones before those that they shadow.
#pragma once

#include <string>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

enum class CommLibrary { nccl, ucx, nvshmem, openmpi, mvapich2 };
inline constexpr CommLibrary all_libraries[] = {CommLibrary::nccl, CommLibrary::ucx, CommLibrary::nvshmem,
                                                CommLibrary::openmpi, CommLibrary::mvapich2};
[[nodiscard]] const char* name_of(CommLibrary library);
/// "NCCL_", with which the library's variables begin.
[[nodiscard]] const char* prefix_of(CommLibrary library);

struct Setting {
  std::string name;     ///< as a variable, also from files that leave out the prefix: OMPI_MCA_btl
  std::string value;    ///< as the library takes it: where it keeps blanks, they are here
  std::string origin;   ///< path of a file; "" for the environment
  unsigned line = 0;    ///< in that file
  std::string section;  ///< of ucx.conf: it counts on machines that the section describes, perhaps not on this one

  [[nodiscard]] bool is_variable() const noexcept { return origin.empty(); }
  /// "the environment" or "/etc/nccl.conf, line 3"
  [[nodiscard]] std::string place() const;
};

class Environment {
 public:
  /// Reads /proc/self/environ, then the files that its variables name or that the libraries look for.
  explicit Environment(const topology::MachineView& view);

  /// The variables: not found means that nothing is known of them, then all() has those of system-wide files alone.
  [[nodiscard]] const topology::Fact<bool>& variables() const noexcept { return variables_; }
  /// Files that exist and could not be read, a sentence each.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

  /// In order of precedence: of several settings of a name the first one counts.
  [[nodiscard]] const std::vector<Setting>& all() const noexcept { return settings_; }
  /// The one that counts, "" and conditional ones included; nullptr when there is none.
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
  /// "" when there is none.
  [[nodiscard]] std::string text_of(const topology::MachineView& view, const std::string& path);
  [[nodiscard]] std::vector<Setting> bounded(std::vector<Setting> more, const std::string& path);

  topology::Fact<bool> variables_;
  std::vector<std::string> problems_;
  std::vector<Setting> settings_;
};

}  // namespace gdrkit::diag
