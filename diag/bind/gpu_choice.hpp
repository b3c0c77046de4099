// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuChoice: the GPU of this rank, from the launcher's variables, Slurm's and CUDA's.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diag/bind/visible_devices.hpp"

namespace gdrkit::diag::bind {

/// Returns a variable of the process; empty if it is not set.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

/// The number of this process within its job on this machine, from the launcher.
struct LocalRank {
  std::size_t value = 0;
  std::string variable;
  std::vector<std::string> others;  ///< "SLURM_LOCALID=0": variables with a different rank
};

/// Returns the rank from the innermost launcher. Throws Failure(usage) if no variable is set, or if the innermost
/// launcher's is not a number.
[[nodiscard]] LocalRank find_local_rank(const Lookup& lookup);

/// The GPUs whose device nodes this process can open. CUDA shows only these, numbered from 0. A job with constrained
/// devices, or a container, may have fewer than the machine.
struct UsableGpus {
  std::vector<std::size_t> gpus;  ///< positions, in PCI order
  bool is_proven = false;         ///< access was tested here; a recording only shows which nodes exist
};

/// Whether the node at this path exists and can be opened, if that can be determined.
using NodeTrial = std::function<bool(const std::string& path)>;

/// Returns all GPUs, unproven, if the driver lists none or no node can be opened: nodes may be created later.
[[nodiscard]] UsableGpus find_usable_gpus(const std::vector<NamedGpu>& gpus, bool is_live, const NodeTrial& trial);

/// Uses faccessat, which checks the device control group as open does, but does not initialize the GPU.
[[nodiscard]] bool can_open_node(const std::string& path);

struct GpuChoice {
  std::size_t gpu;  ///< position in PCI order
  std::string why;  ///< "LOCAL_RANK=3"
};

/// The GPU of a program that uses the device of its local rank. Throws Failure(usage) if the variables are ambiguous or
/// contradict each other. `may_wrap`: ranks beyond the number of GPUs start again with the first GPU.
[[nodiscard]] GpuChoice choose_gpu(const Lookup& lookup, const LocalRank& rank, const std::vector<NamedGpu>& gpus,
                                   const UsableGpus& usable, bool may_wrap);

}  // namespace gdrkit::diag::bind
