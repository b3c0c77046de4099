// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Hypervisor: evidence that this machine is a virtual machine.
#pragma once

#include <string>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// found: the evidence ("/proc/cpuinfo has the flag hypervisor"). absent: no evidence, so the machine counts as bare
/// metal. Otherwise it is unknown. x86 shows it in the processor flags, other machines in firmware and device tree.
/// Bare-metal machines of clouds have the same vendor name as their virtual ones.
[[nodiscard]] topology::Fact<std::string> find_hypervisor(const topology::MachineView& view);

}  // namespace gdrkit::diag
