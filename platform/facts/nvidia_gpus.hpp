// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NvidiaGpu: a GPU as PCI reports it, with or without a driver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::platform {

struct NvidiaGpu {
  PciAddress address;
  std::uint32_t device_id = 0;        ///< PCI device number, 0x2335 for an H200
  std::uint64_t bar1_size_bytes = 0;  ///< 0: unknown, or not assigned by the firmware
  int numa_node = -1;                 ///< -1: not reported
  std::string driver;                 ///< "nvidia", "vfio-pci", ...; "" if no driver is bound
};

/// Returns NVIDIA's display (class 0300) and 3D (0302) controllers under `sysfs_root` ("/sys"), sorted by PCI address.
/// The list may be empty. ENOENT: the PCI tree does not exist.
[[nodiscard]] base::Result<std::vector<NvidiaGpu>> list_nvidia_gpus(const std::string& sysfs_root);

/// Returns the product name that the kernel module reports under `proc_root` ("/proc"), or "unknown".
[[nodiscard]] std::string nvidia_gpu_name(const std::string& proc_root, const PciAddress& address);

}  // namespace gdrkit::platform
