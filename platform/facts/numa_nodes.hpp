// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NumaNode: CPUs and memory that are near each other, as the operating system numbers them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::platform {

struct NumaNode {
  int number = 0;
  std::vector<int> cpus;           ///< online ones; none on a node of memory alone
  std::uint64_t memory_bytes = 0;  ///< 0: a node without memory
};

/// The online nodes under `sysfs_root` ("/sys"), by number; the numbers may have gaps. ENOENT where the operating
/// system knows no nodes, EINVAL (naming the file) where it says something that cannot be.
[[nodiscard]] base::Result<std::vector<NumaNode>> read_numa_nodes(const std::string& sysfs_root);

/// The node of a PCI device; -1: the machine does not say (usual in virtual machines), or there is no such device.
[[nodiscard]] int pci_numa_node(const std::string& sysfs_root, const PciAddress& address);

/// nullptr when there is none of that number.
[[nodiscard]] const NumaNode* find_node(const std::vector<NumaNode>& nodes, int number);
/// The node that `cpu` belongs to; -1 when none has it.
[[nodiscard]] int node_of_cpu(const std::vector<NumaNode>& nodes, int cpu);

}  // namespace gdrkit::platform
