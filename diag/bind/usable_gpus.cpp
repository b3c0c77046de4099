// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/bind/usable_gpus.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <numeric>

namespace gdrkit::diag::bind {

UsableGpus find_usable_gpus(const std::vector<NamedGpu>& gpus, bool is_live, const NodeTrial& trial) {
  UsableGpus usable;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    // The driver lists all its GPUs; a container runtime hides those that do not belong to the container.
    const auto& minor = gpus[gpu].minor;
    if (minor && trial("/dev/nvidia" + std::to_string(*minor))) usable.gpus.push_back(gpu);
  }
  usable.is_proven = is_live && !usable.gpus.empty();
  if (!usable.gpus.empty()) return usable;
  usable.gpus.resize(gpus.size());
  std::iota(usable.gpus.begin(), usable.gpus.end(), std::size_t{0});
  return usable;
}

bool can_open_node(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
}

}  // namespace gdrkit::diag::bind
