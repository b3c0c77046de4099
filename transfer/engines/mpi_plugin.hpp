// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MpiPlugin: which plug-in of --engine mpi serves the MPI that started this process, and its functions.
#pragma once

#include <string>

#include "transfer/engines/mpi/plugin.h"

namespace gdrkit::transfer::engines {

/// The plug-in `named`, or where that is "" the installed one of the MPI whose launcher's variables are there. It stays
/// loaded, and MPI's symbols are global, as Open MPI's components need them. Throws Failure(cannot_run) with what
/// is missing and what brings it.
[[nodiscard]] const gdrkit_osu_mpi_table& load_mpi_plugin(const std::string& named);

/// For an MPI that has no installed plug-in: C, to be compiled by its mpicc.
[[nodiscard]] std::string mpi_plugin_source();

}  // namespace gdrkit::transfer::engines
