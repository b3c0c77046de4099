// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MpiPlugin: the plug-in of --engine mpi for the MPI that started this process, and its functions.
#pragma once

#include <string>

#include "transfer/engines/mpi/plugin.h"

namespace gdrkit::transfer::engines {

/// Loads the plug-in `named`. If that is "", loads the installed plug-in of the MPI whose launcher set its variables.
/// The plug-in stays loaded, and MPI's symbols are global, as Open MPI's components require. Throws Failure(cannot_run)
/// with the missing component and its package.
[[nodiscard]] const gdrkit_osu_mpi_table& load_mpi_plugin(const std::string& named);

/// The source in C for an MPI without an installed plug-in, to be compiled by its mpicc.
[[nodiscard]] std::string mpi_plugin_source();

}  // namespace gdrkit::transfer::engines
