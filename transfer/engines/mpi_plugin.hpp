// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MpiStart: MPI from initialization to finalization, through its plug-in.
#pragma once

#include <memory>
#include <string>

#include "platform/device/device.hpp"
#include "transfer/engines/mpi/plugin.h"

namespace gdrkit::transfer::engines {

/// Construct it before the ProcessGroup, which uses the same launcher's PMIx. Open MPI 5
/// fails if PMIx was initialized before, and an MPI with its own libpmix must load that first.
class MpiStart {
 public:
  /// Throws Failure.
  explicit MpiStart(const std::string& plugin);

  [[nodiscard]] const gdrkit_osu_mpi_table& calls() const noexcept { return calls_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// Without additions of Open MPI, such as who built it and where.
  [[nodiscard]] std::string version() const;
  /// Throws Failure if `code` is not 0.
  void require(int code, const char* what) const {
    if (code != 0) fail(code, what);
  }

 private:
  [[noreturn]] void fail(int code, const char* what) const;

  std::unique_ptr<platform::Device> gpu_;
  const gdrkit_osu_mpi_table& calls_;
  int rank_ = 0;
  int ranks_ = 0;
};

/// Loads the plug-in `named`. If that is "", loads the installed plug-in of the MPI whose launcher set its variables.
/// The plug-in stays loaded, and MPI's symbols are global, as Open MPI's components require. Throws Failure(cannot_run)
/// with the missing component and its package.
[[nodiscard]] const gdrkit_osu_mpi_table& load_mpi_plugin(const std::string& named);

/// The source in C for an MPI without an installed plug-in, to be compiled by its mpicc.
[[nodiscard]] std::string mpi_plugin_source();

}  // namespace gdrkit::transfer::engines
