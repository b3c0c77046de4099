// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PciTree: the GPUs, RDMA adapters and NVSwitches of a machine, each with the bridges that lead to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/topology/machine_view.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag::topology {

struct PciLink {
  Fact<double> speed_gts;  ///< GT/s of a lane
  Fact<std::int64_t> width;
};

/// A bridge or an endpoint, with the numbers from its sysfs files.
struct PciFunction {
  platform::PciAddress address;
  std::string name;  ///< as sysfs spells it
  Fact<std::int64_t> vendor;
  Fact<std::int64_t> device;
  Fact<std::int64_t> subsystem_vendor;
  Fact<std::int64_t> subsystem_device;
  Fact<std::int64_t> class_code;  ///< 24 bits
  Fact<std::int64_t> numa_node;   ///< -1: the firmware reports none
  PciLink current;
  PciLink most;  ///< the function's maximum
};

enum class DeviceKind { gpu, adapter, nvswitch };

struct TreeDevice {
  DeviceKind kind = DeviceKind::gpu;
  std::string name;  ///< GPU0.. in PCI order; mlx5_0; NVSwitch0..
  PciFunction function;
  Fact<std::string> real_path;       ///< /sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0
  std::string root;                  ///< pci0000:00, the host bridge; "" if real_path is unknown
  std::vector<std::size_t> bridges;  ///< in PciTree::bridges, from the root port down
  Fact<std::vector<int>> cpus;       ///< local_cpulist
};

struct PciTree {
  static constexpr std::size_t most_gpus = 128;  ///< limit for each kind except adapters, which bounds forged machines
  static constexpr std::size_t most_adapters = 256;

  Outcome pci_outcome = Outcome::absent;  ///< of the list of PCI devices
  std::string pci_reason;
  std::size_t pci_count = 0;
  Outcome adapter_outcome = Outcome::absent;  ///< of the list of RDMA devices; absent: there is none
  std::string adapter_reason;
  std::vector<PciFunction> bridges;
  std::vector<TreeDevice> gpus;      ///< by PCI address
  std::vector<TreeDevice> adapters;  ///< by PCI address
  std::vector<TreeDevice> nvswitches;
  std::optional<int> only_node;  ///< the machine has only this NUMA node: devices without a node are on it
  std::vector<std::string>
      unplaced;  ///< RDMA devices that are not PCI functions (software devices): they have no distance
  std::vector<std::string> unread;  ///< sentences on devices whose kind could not be read
  std::size_t left_out = 0;         ///< number of devices beyond the limits above
};

/// Always returns a tree. Its outcomes and facts report what could not be read.
[[nodiscard]] PciTree read_pci_tree(const MachineView& view);

/// The place of a device, from the path that sysfs resolves to. Domains of five digits and platform prefixes are legal:
/// the last component that starts with "pci" is the host bridge.
struct PciPlace {
  std::string root;
  std::vector<std::string> functions;  ///< from the root port to the device itself
};
[[nodiscard]] PciPlace parse_pci_place(const std::string& real_path);

struct NarrowestLink {
  double gbit_per_s = 0;  ///< in each direction, without the link's encoding overhead; 0: unknown
  std::string where;      ///< the function below the link
  std::string unread;     ///< why a link could not be read; "" otherwise
};

/// Covers the links from both devices up to the first bridge above both, or to the host bridge. A GPU's link slows down
/// while the GPU is idle, so its speed is the maximum that both ends support.
[[nodiscard]] NarrowestLink narrowest_link(const PciTree& tree, const TreeDevice& a, const TreeDevice& b);

}  // namespace gdrkit::diag::topology
