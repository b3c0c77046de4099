// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuChoice: the GPU of this rank, from the launcher's variables, Slurm's and CUDA's.
#pragma once

#include <string>
#include <vector>

#include "diag/bind/local_rank.hpp"
#include "diag/bind/usable_gpus.hpp"
#include "diag/bind/visible_devices.hpp"

namespace gdrkit::diag::bind {

struct GpuChoice {
  std::size_t gpu;  ///< position in PCI order
  std::string why;  ///< "LOCAL_RANK=3"
};

/// The GPU of a program that uses the device of its local rank. Throws Failure(usage) if the variables are ambiguous or
/// contradict each other. `may_wrap`: ranks beyond the number of GPUs start again with the first GPU.
[[nodiscard]] GpuChoice choose_gpu(const Lookup& lookup, const LocalRank& rank, const std::vector<NamedGpu>& gpus,
                                   const UsableGpus& usable, bool may_wrap);

}  // namespace gdrkit::diag::bind
