// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PciBars: the base address registers of a PCI device, from its `resource` file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::platform {

struct PciBar {
  std::uint64_t start = 0;
  std::uint64_t size_bytes = 0;  ///< 0: absent, or not assigned by the firmware
  std::uint64_t flags = 0;       ///< the operating system's IORESOURCE_* bits
};

/// Entry N is "BAR N", the sysfs file `resourceN`. A 64-bit BAR occupies its own entry and the next one.
using PciBars = std::array<PciBar, 6>;

/// Parses the text of a `resource` file, one line "0xSTART 0xEND 0xFLAGS" per BAR. EINVAL: one of the first six lines
/// has another format.
[[nodiscard]] base::Result<PciBars> parse_pci_bars(std::string_view text);

/// Reads the BARs of the device at `address` under `sysfs_root` ("/sys").
[[nodiscard]] base::Result<PciBars> read_pci_bars(const std::string& sysfs_root, const PciAddress& address);

/// Returns what NVIDIA calls BAR1, the aperture to device memory: the second BAR that is present. Its number is 1 after
/// 32-bit registers and 2 after 64-bit registers (H200).
[[nodiscard]] PciBar nvidia_bar1(const PciBars& bars) noexcept;

}  // namespace gdrkit::platform
