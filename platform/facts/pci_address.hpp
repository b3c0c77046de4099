// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PciAddress: identifies a PCI device, independent of any library's GPU numbering.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gdrkit::platform {

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;    ///< 0..31
  std::uint8_t function = 0;  ///< 0..7

  auto operator<=>(const PciAddress&) const = default;
};

/// Accepts sysfs's format ("0000:3b:00.0"), upper case, an eight-digit domain (the format of CUDA and NVML), and
/// addresses without a domain or a function (both default to 0). EINVAL: any other text.
[[nodiscard]] base::Result<PciAddress> parse_pci_address(std::string_view text);

/// Formats as sysfs does: lower case, four domain digits (more if required).
[[nodiscard]] std::string to_string(const PciAddress& address);

}  // namespace gdrkit::platform
