// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Virtualization: evidence that this machine is a virtual machine, and that this process runs in a container.
#pragma once

#include <string>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// found: the evidence ("/proc/cpuinfo has the flag hypervisor"). absent: no evidence, so the machine counts as bare
/// metal. Otherwise it is unknown. x86 shows it in the processor flags, other machines in firmware and device tree.
/// Bare-metal machines of clouds have the same vendor name as their virtual ones.
[[nodiscard]] topology::Fact<std::string> find_hypervisor(const topology::MachineView& view);

/// found: the first evidence ("/.dockerenv exists"). absent: none of the known evidence, which some runtimes do not
/// create, so the absence of a container cannot be proven. unreadable: no evidence, but one source could not be read.
/// An overlay at "/" is not evidence: diskless machines have one too.
[[nodiscard]] topology::Fact<std::string> find_container(const topology::MachineView& view);

}  // namespace gdrkit::diag
