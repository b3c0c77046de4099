// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NumaNode: CPUs and memory of one NUMA node, numbered as by the operating system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::platform {

struct NumaNode {
  int number = 0;
  std::vector<int> cpus;           ///< online CPUs; empty on a memory-only node
  std::uint64_t memory_bytes = 0;  ///< 0: a node without memory
};

/// Returns the online nodes under `sysfs_root` ("/sys"), sorted by number; numbers may have gaps. ENOENT: the operating
/// system does not report nodes. EINVAL: a file has invalid contents; the error names the file.
[[nodiscard]] base::Result<std::vector<NumaNode>> read_numa_nodes(const std::string& sysfs_root);

/// Returns the node of a PCI device; -1 if sysfs does not report it (usual in virtual machines) or the device does not
/// exist.
[[nodiscard]] int pci_numa_node(const std::string& sysfs_root, const PciAddress& address);

/// Returns nullptr if no node has this number.
[[nodiscard]] const NumaNode* find_node(const std::vector<NumaNode>& nodes, int number);
/// Returns the node of `cpu`; -1 if no node contains it.
[[nodiscard]] int node_of_cpu(const std::vector<NumaNode>& nodes, int cpu);

}  // namespace gdrkit::platform
