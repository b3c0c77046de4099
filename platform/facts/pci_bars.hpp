// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PciBars: the address ranges of a PCI device, from its `resource` file.
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

}  // namespace gdrkit::platform
