// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeerVerdict: whether two GPUs of a machine can access each other's memory, the path, and what prevents it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diag/doctor/verdict/access.hpp"
#include "diag/doctor/verdict/causes.hpp"

namespace gdrkit::diag::doctor {

struct PeerVerdict {
  std::size_t gpu = 0;  ///< positions in Verdicts::gpus, gpu < peer
  std::size_t peer = 0;
  std::string path;        ///< in nvidia-smi's terms: NV18, PIX, PHB
  Access access;           ///< via: NVLink or PCIe
  std::string route;       ///< "NVLink", "PCIe bridge", "PCIe bridge, redirected to the processor", "processor"
  double gbyte_per_s = 0;  ///< maximum of the narrowest link on the path, per direction; 0: unknown
  std::string acs;         ///< of the ports on the path: "off", "redirects", "unknown", "not on the way"
  std::string iommu;       ///< "none", a type of group, "unknown"
  std::vector<std::string> blocked_by;  ///< IDs of checks
  std::vector<std::string> slowed_by;
};

[[nodiscard]] std::vector<PeerVerdict> judge_peers(const Machine& machine, const Causes& causes);

}  // namespace gdrkit::diag::doctor
