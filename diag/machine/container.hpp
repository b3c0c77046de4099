// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Container: evidence that this process runs in a container. The absence of a container cannot be proven.
#pragma once

#include <string>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// found: the first evidence ("/.dockerenv exists"). absent: none of the known evidence, which some runtimes do not
/// create. unreadable: no evidence, but one source could not be read. An overlay at "/" is not evidence: diskless
/// machines have one too.
[[nodiscard]] topology::Fact<std::string> find_container(const topology::MachineView& view);

}  // namespace gdrkit::diag
