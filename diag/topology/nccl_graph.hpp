// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NcclGraph: the machine as NCCL sees it: CPU nodes, one node for each PCI switch, GPUs and adapters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/topology/path_class.hpp"
#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::topology {

enum class NcclKind { cpu, pci, gpu, nic };

/// The properties of a PCI function that NCCL keeps, as text of sysfs and its XML; "" if unknown.
struct NcclFunction {
  std::string class_code;
  std::string vendor;
  std::string device;
  std::string subsystem_vendor;
  std::string subsystem_device;
  std::string link_speed;  ///< "32.0 GT/s PCIe": the slower of the function and the port above it
  unsigned link_width = 0;
};

struct NcclNode {
  NcclKind kind = NcclKind::cpu;
  std::string id;                    ///< PCI address; for a CPU node the number of the NUMA node
  std::optional<std::size_t> above;  ///< empty for a CPU node, and for a device with an unknown place
  NcclFunction function;
  std::string name;    ///< GPU0, mlx5_0; "" for others
  std::string reason;  ///< why the NUMA node or place could not be read (distances across it are unknown); "" otherwise
};

struct NcclGraph {
  std::vector<NcclNode> nodes;        ///< parents precede children
  std::vector<std::size_t> gpus;      ///< in PCI order
  std::vector<std::size_t> adapters;  ///< in PCI order; several may share one node, see below
  std::vector<std::string> adapter_names;
  NvLinks links;
};

/// Built from sysfs like NCCL (src/graph/xml.cc). The parent of a function is two components up its path, which is the
/// upstream port of the switch above it. Root ports, downstream ports and host bridges disappear, since the top of each
/// path is attached to its NUMA node. Ports and virtual functions of one adapter are one node (net_ib: device and
/// function digits become 0, NCCL_IB_MERGE_VFS=1).
[[nodiscard]] NcclGraph make_nccl_graph(const PciTree& tree, const NvLinks& links);

/// NCCL treats two levels of a Broadcom switch as one (ncclTopoFlattenBcmSwitches): PXB for nvidia-smi, PIX here.
void flatten_broadcom_switches(NcclGraph& graph);

/// Classes of all pairs: GPUs first, then adapters. PXN is reported if the rule on classes applies. NCCL also requires
/// more bandwidth or a pair beyond PXN, and that the peer GPU can reach the adapter directly.
class NcclDistances {
 public:
  explicit NcclDistances(NcclGraph graph);
  [[nodiscard]] const Distance& gpu_adapter(std::size_t gpu, std::size_t adapter) const {
    return at(gpu, gpus_ + adapter);
  }
  /// By position among all devices, GPUs first.
  [[nodiscard]] const Distance& at(std::size_t a, std::size_t b) const { return all_[a * count_ + b]; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  void add_c2c(const NcclGraph& graph);
  void add_pxn();

  std::size_t gpus_ = 0;
  std::size_t count_ = 0;
  std::vector<Distance> all_;
};

}  // namespace gdrkit::diag::topology
