// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PciBars: the address ranges a PCI device answers to, from its `resource` file.
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
  std::uint64_t size_bytes = 0;  ///< 0: not there, or given no room by the firmware
  std::uint64_t flags = 0;       ///< the operating system's IORESOURCE_* bits
};

/// Number N is "BAR N" in the PCI sense of the sysfs file `resourceN`. A 64-bit one takes its number and the next.
using PciBars = std::array<PciBar, 6>;

/// Text of a `resource` file: a line of "0xSTART 0xEND 0xFLAGS" each. EINVAL when a line among the first six is not
/// that.
[[nodiscard]] base::Result<PciBars> parse_pci_bars(std::string_view text);

/// Of the device at `address` under `sysfs_root` ("/sys").
[[nodiscard]] base::Result<PciBars> read_pci_bars(const std::string& sysfs_root, const PciAddress& address);

/// What NVIDIA calls BAR1, the aperture onto device memory: the second one that is there. It is number 1 behind 32-bit
/// registers and number 2 behind 64-bit ones (H200).
[[nodiscard]] PciBar nvidia_bar1(const PciBars& bars) noexcept;

}  // namespace gdrkit::platform
