// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Variables: the environment of this process, or of the one that made a recording.
#pragma once

#include <map>
#include <string>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

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
