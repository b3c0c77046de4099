// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Probe: facts that need more than reading files: vendor libraries are asked, which open devices.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/kernel_log.hpp"
#include "diag/machine/nvml_facts.hpp"
#include "diag/machine/verbs_facts.hpp"

namespace gdrkit::diag {

/// quick: reads files. probe: also opens devices and asks the vendor's libraries (diag/doctor/README.md lists which),
/// in a thread that cannot change files. cuda: also starts CUDA, without a context, for what only it tells; NVIDIA's
/// library then maps registers of the GPUs, writes a thread's name to procfs and makes ~/.nv, which it cannot do
/// without (docs/design/0012).
enum class Level { quick, probe, cuda };
[[nodiscard]] const char* name_of(Level level);
/// For the option --level.
[[nodiscard]] const std::vector<std::string>& level_names();
[[nodiscard]] Level level_named(const std::string& name);

/// At level quick on a live machine every member is unreadable, its reason names the level. Of a recording the members
/// are what its folder /gdrkit holds, at any level, and no library is loaded.
struct Probe {
  topology::Fact<NvmlFacts> nvml;
  topology::Fact<KernelLog> kernel_log;
  topology::Fact<VerbsFacts> verbs;  ///< absent: there is no /dev/infiniband/uverbs*
};

[[nodiscard]] Probe gather_probe(const topology::MachineView& view, Level level);

}  // namespace gdrkit::diag
