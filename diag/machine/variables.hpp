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

/// The first variable that contains the local rank of the process; "" if none is set.
[[nodiscard]] std::string local_rank_variable(const Variables& variables);

}  // namespace gdrkit::diag
