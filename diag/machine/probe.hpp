// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Probe: facts that require more than reading files: results of vendor libraries, which open devices.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/kernel_log.hpp"
#include "diag/machine/nvml_facts.hpp"
#include "diag/machine/verbs_facts.hpp"

namespace gdrkit::diag {

/// quick: reads files. probe: also opens devices and queries the vendors' libraries (diag/doctor/README.md lists them)
/// in a thread that cannot change files. cuda: also starts CUDA, without a context, for facts that only CUDA reports.
/// NVIDIA's library then unavoidably maps registers of the GPUs, writes a thread's name to procfs and creates ~/.nv
/// (docs/design/0012).
enum class Level { quick, probe, cuda };
[[nodiscard]] const char* name_of(Level level);
/// For the option --level.
[[nodiscard]] const std::vector<std::string>& level_names();
[[nodiscard]] Level level_named(const std::string& name);

/// At level quick on a live machine every member is unreadable, with the level as the reason. For a recording the
/// members are the contents of its directory /gdrkit, at any level, and no library is loaded.
struct Probe {
  topology::Fact<NvmlFacts> nvml;
  topology::Fact<KernelLog> kernel_log;
  topology::Fact<VerbsFacts> verbs;  ///< absent: /dev/infiniband/uverbs* does not exist
};

[[nodiscard]] Probe gather_probe(const topology::MachineView& view, Level level);

}  // namespace gdrkit::diag
