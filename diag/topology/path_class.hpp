// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PathClass: how far two devices are from each other, as nvidia-smi, NVSHMEM and UCX each put it; NCCL's view is
// nccl_graph.
#pragma once

#include <map>
#include <string>

#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::topology {

/// The words of all four, nearest first where an order makes sense.
enum class PathClass {
  unknown,    ///< a fact that it hangs on could not be read
  same,       ///< X: the device itself
  local,      ///< NCCL's LOC: two devices that NCCL takes for one adapter
  nvlink,     ///< NVL (NCCL), NV# (nvidia-smi)
  nvlink_by,  ///< NCCL's NVB: over NVLink through another GPU
  chip,       ///< NCCL's C2C
  near,       ///< UCX: below a common bridge, or nothing known against it
  pix,
  pxb,
  chip_host,   ///< NCCL's P2C: adapter, CPU, C2C, GPU
  nvlink_nic,  ///< NCCL's PXN: over NVLink to a GPU that is near the adapter
  phb,
  node,
  sys,
  apart,  ///< NCCL's DIS: no path
};

/// "PIX", "NVL"; UCX's in lower case. NV# is the caller's, who has the count.
[[nodiscard]] const char* name_of(PathClass value);

struct Distance {
  PathClass value = PathClass::unknown;
  unsigned nvlinks = 0;  ///< of PathClass::nvlink: how many
  std::string why;       ///< the bridge or node that decides; of unknown: what could not be read
};

/// NVLink and C2C as the driver's library tells them; plain data, so that a recording can hold it.
struct NvLinks {
  struct Gpu {
    std::map<platform::PciAddress, unsigned> to_gpus;  ///< active links to each
    unsigned to_switches = 0;  ///< active links to NVSwitches, or to what is not visible from here
    unsigned c2c_count = 0;
    unsigned c2c_mb_per_s = 0;  ///< of one C2C link
  };
  bool is_known = false;
  std::string why_not;  ///< unless known
  std::map<platform::PciAddress, Gpu> gpus;

  /// Links between two GPUs: direct ones, else the fewer of the two's links to switches.
  [[nodiscard]] unsigned between(const platform::PciAddress& a, const platform::PciAddress& b) const;
};

/// What `nvidia-smi topo -m` prints. Its source is closed; the rule is inferred from its legend and from recorded
/// output. Known to differ: some machines' tables show SYS for pairs in one NUMA node below different host bridges.
[[nodiscard]] Distance smi_distance(const PciTree& tree, const NvLinks& links, const TreeDevice& a,
                                    const TreeDevice& b);

/// NVSHMEM counts the components that both paths share (get_pci_distance in its host transport code). It is the
/// first device's depth that decides between PIX and PXB, so the order matters: an adapter behind a switch of its own
/// is still PIX, two functions of one adapter are PXB, and a platform prefix makes all look nearer than they are.
[[nodiscard]] Distance nvshmem_distance(const TreeDevice& from, const TreeDevice& to);

/// UCX looks at the longest common path (ucs/sys/topo): a host bridge directly below /sys/devices is "phb",
/// /sys/devices itself "node" or "sys", anything else "near" - a common platform prefix too.
[[nodiscard]] Distance ucx_distance(const TreeDevice& a, const TreeDevice& b);

}  // namespace gdrkit::diag::topology
