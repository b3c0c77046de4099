// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Hypervisor: what shows that this machine is a virtual one.
#pragma once

#include <string>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// found: the evidence ("/proc/cpuinfo has the flag hypervisor"); absent: bare metal, as far as the machine tells;
/// otherwise it cannot be known. x86 says so in the flags of its processors; elsewhere firmware and device tree do, and
/// the bare machines of clouds have the same vendor as their virtual ones.
[[nodiscard]] topology::Fact<std::string> find_hypervisor(const topology::MachineView& view);

}  // namespace gdrkit::diag
