// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NVIDIA's GPUs as PCI shows them, with or without a driver, and the loaded driver as its kernel module reports it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::platform {

struct NvidiaGpu {
  PciAddress address;
  std::uint32_t device_id = 0;        ///< PCI device number, 0x2335 for an H200
  std::uint64_t bar1_size_bytes = 0;  ///< 0: unknown, or not assigned by the firmware
  int numa_node = -1;                 ///< -1: the machine does not report it
  std::string driver;                 ///< "nvidia", "vfio-pci", ...; "" if none is bound
};

/// NVIDIA's display (class 0300) and 3D (0302) controllers under `sysfs_root` ("/sys"), by PCI address. May be empty;
/// ENOENT if the PCI tree is missing.
[[nodiscard]] base::Result<std::vector<NvidiaGpu>> list_nvidia_gpus(const std::string& sysfs_root);

/// The product's name according to the kernel module under `proc_root` ("/proc"); "unknown" if it is not reported.
[[nodiscard]] std::string nvidia_gpu_name(const std::string& proc_root, const PciAddress& address);

// The address ranges of a PCI device, from its `resource` file.

struct PciBar {
  std::uint64_t start = 0;
  std::uint64_t size_bytes = 0;  ///< 0: absent, or not assigned by the firmware
  std::uint64_t flags = 0;       ///< the operating system's IORESOURCE_* bits
};

/// Number N is "BAR N" in the PCI sense of the sysfs file `resourceN`. A 64-bit BAR uses its number and the next.
using PciBars = std::array<PciBar, 6>;

/// Text of a `resource` file: a line of "0xSTART 0xEND 0xFLAGS" each. EINVAL if one of the first six lines is
/// malformed.
[[nodiscard]] base::Result<PciBars> parse_pci_bars(std::string_view text);

/// Of the device at `address` under `sysfs_root` ("/sys").
[[nodiscard]] base::Result<PciBars> read_pci_bars(const std::string& sysfs_root, const PciAddress& address);

/// NVIDIA's BAR1, the aperture onto device memory: the second existing BAR. It is number 1 behind 32-bit registers and
/// number 2 behind 64-bit ones (H200).
[[nodiscard]] PciBar nvidia_bar1(const PciBars& bars) noexcept;

struct NvidiaDriver {
  std::string version;           ///< "580.159.04"
  bool is_open_flavour = false;  ///< the kernel module built from published source
};

/// Text of /proc/driver/nvidia/version. EINVAL if its first line contains no version.
[[nodiscard]] base::Result<NvidiaDriver> parse_nvidia_driver(std::string_view text);

/// Under `proc_root` ("/proc"). ENOENT: no NVIDIA kernel module is loaded (or the container hides it).
[[nodiscard]] base::Result<NvidiaDriver> read_nvidia_driver(const std::string& proc_root);

}  // namespace gdrkit::platform
