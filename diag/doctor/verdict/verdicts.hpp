// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Verdicts: for every GPU and adapter the behaviour of each library, and for every GPU that of gdrkit.
#pragma once

#include <string>
#include <vector>

#include "diag/doctor/examination.hpp"
#include "diag/doctor/verdict/access.hpp"

namespace gdrkit::diag::doctor {

/// Whether two GPUs can access each other's memory, the path, and what prevents it.
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

struct PairVerdict {
  std::size_t gpu = 0;  ///< position in Verdicts::gpus
  std::string adapter;
  std::string path;      ///< distance in the library's own terms: PIX, near
  bool is_best = false;  ///< the pair that represents the GPU
  Access access;
  std::vector<std::string> blocked_by;  ///< IDs of checks
  std::vector<std::string> slowed_by;
};

struct LibraryVerdict {
  const char* name;                ///< "NCCL"
  std::vector<PairVerdict> pairs;  ///< grouped by GPU, the best first
};

struct GpuVerdict {
  std::string name;  ///< GPU0, in PCI order
  std::string address;
  Access mapping;  ///< gdrkit's; via: gdrdrv or rm
  std::vector<std::string> blocked_by;
};

struct Verdicts {
  std::vector<GpuVerdict> gpus;
  std::vector<LibraryVerdict> libraries;
  std::vector<PeerVerdict> peers;  ///< all pairs of GPUs
  std::string nothing;             ///< the reason why the libraries have no pairs; "" otherwise
};

/// Requires that all checks have run, because only recorded failures block a pair.
[[nodiscard]] Verdicts compute_verdicts(const Examination& examination, const Machine& machine);

void print_verdicts_text(const Verdicts& verdicts);

}  // namespace gdrkit::diag::doctor
