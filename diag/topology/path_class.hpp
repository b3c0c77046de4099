// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PathClass: how far two devices are from each other, according to nvidia-smi, NVSHMEM and UCX. nccl_graph has NCCL's
// view.
#pragma once

#include <map>
#include <string>

#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::topology {

/// The terms of all four, nearest first where an order is meaningful.
enum class PathClass {
  unknown,    ///< a fact that it depends on could not be read
  same,       ///< X: the device itself
  local,      ///< NCCL's LOC: two devices that NCCL treats as one adapter
  nvlink,     ///< NVL (NCCL), NV# (nvidia-smi)
  nvlink_by,  ///< NCCL's NVB: over NVLink through another GPU
  chip,       ///< NCCL's C2C
  near,       ///< UCX: below a common bridge, or no evidence of a longer path
  pix,
  pxb,
  chip_host,   ///< NCCL's P2C: adapter, CPU, C2C, GPU
  nvlink_nic,  ///< NCCL's PXN: over NVLink to a GPU that is near the adapter
  phb,
  node,
  sys,
  apart,  ///< NCCL's DIS: no path
};

/// "PIX", "NVL"; UCX's in lower case. The caller formats NV#, because it has the count.
[[nodiscard]] const char* name_of(PathClass value);

struct Distance {
  PathClass value = PathClass::unknown;
  unsigned nvlinks = 0;  ///< for PathClass::nvlink: their number
  std::string why;       ///< the deciding bridge or node; for unknown: the fact that could not be read
};

/// NVLink and C2C as reported by the driver's library. Plain data that a recording can store.
struct NvLinks {
  struct Gpu {
    std::map<platform::PciAddress, unsigned> to_gpus;  ///< active links to each
    unsigned to_switches = 0;  ///< active links to NVSwitches, or to devices that are not visible here
    unsigned c2c_count = 0;
    unsigned c2c_mb_per_s = 0;  ///< of one C2C link
  };
  bool is_known = false;
  std::string why_not;  ///< the reason, unless known
  std::map<platform::PciAddress, Gpu> gpus;

  /// Links between two GPUs: direct ones, otherwise the minimum of the two's links to switches.
  [[nodiscard]] unsigned between(const platform::PciAddress& a, const platform::PciAddress& b) const;
};

/// The class that `nvidia-smi topo -m` prints. Its source is closed; the rule is inferred from its legend and from
/// recorded output. Known difference: some machines' tables show SYS for pairs in one NUMA node below different host
/// bridges.
[[nodiscard]] Distance smi_distance(const PciTree& tree, const NvLinks& links, const TreeDevice& a,
                                    const TreeDevice& b);

/// NVSHMEM counts the components that both paths share (get_pci_distance in its host transport code). The first
/// device's depth decides between PIX and PXB, so the order matters. An adapter behind its own switch is still PIX, two
/// functions of one adapter are PXB, and a platform prefix makes all devices appear nearer.
[[nodiscard]] Distance nvshmem_distance(const TreeDevice& from, const TreeDevice& to);

/// UCX uses the longest common path (ucs/sys/topo): a host bridge directly below /sys/devices is "phb", /sys/devices
/// itself "node" or "sys", anything else "near", including a common platform prefix.
[[nodiscard]] Distance ucx_distance(const TreeDevice& a, const TreeDevice& b);

}  // namespace gdrkit::diag::topology
