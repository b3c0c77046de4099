// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Probe: the facts that cannot be had by reading files: devices are opened and the vendor's libraries asked.
#pragma once

#include "tools/machine/kernel_log.hpp"
#include "tools/machine/nvml_facts.hpp"

namespace gdrkit::tools {

/// quick: reads files. probe: also opens devices and loads the vendor's libraries (tools/doctor/README.md lists which).
enum class Level { quick, probe };
[[nodiscard]] const char* name_of(Level level);

/// At level quick on a live machine every member is unreadable, its reason names the level. Of a recording the members
/// are what its folder /gdrkit holds, at any level, and no library is loaded.
struct Probe {
  topology::Fact<NvmlFacts> nvml;
  topology::Fact<KernelLog> kernel_log;
};

[[nodiscard]] Probe gather_probe(const topology::MachineView& view, Level level);

}  // namespace gdrkit::tools
