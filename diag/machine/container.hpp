// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Container: what shows that this process is in one. Nothing shows that it is in none.
#pragma once

#include <string>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// found: the first piece of evidence ("/.dockerenv is there"); absent: none of the known ones, which some runtimes
/// do not leave; unreadable: none, and one that could not be looked at. An overlay at "/" is no evidence: machines
/// without disks have one too.
[[nodiscard]] topology::Fact<std::string> find_container(const topology::MachineView& view);

}  // namespace gdrkit::diag
