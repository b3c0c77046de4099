// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NumaNode: CPUs and memory that are near each other, with the operating system's numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::platform {

struct NumaNode {
  int number = 0;
  std::vector<int> cpus;           ///< online ones; empty for a node with memory only
  std::uint64_t memory_bytes = 0;  ///< 0: a node without memory
};

/// The online nodes under `sysfs_root` ("/sys"), by number; the numbers may have gaps. ENOENT if the operating system
/// has no nodes, EINVAL (with the file) for invalid contents.
[[nodiscard]] base::Result<std::vector<NumaNode>> read_numa_nodes(const std::string& sysfs_root);

/// The node of a PCI device; -1: the machine does not report it (usual in virtual machines), or the device does not
/// exist.
[[nodiscard]] int pci_numa_node(const std::string& sysfs_root, const PciAddress& address);

/// nullptr if no node has that number.
[[nodiscard]] const NumaNode* find_node(const std::vector<NumaNode>& nodes, int number);
/// The node that `cpu` belongs to; -1 if it belongs to none.
[[nodiscard]] int node_of_cpu(const std::vector<NumaNode>& nodes, int cpu);

}  // namespace gdrkit::platform
