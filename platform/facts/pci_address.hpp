// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PciAddress: identifies a PCI device, independent of any library's numbering of GPUs.
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

/// Accepts "0000:3b:00.0" as in sysfs; also upper case, an eight-digit domain (CUDA's and NVML's spelling), no domain,
/// and no function (function 0). EINVAL for anything else.
[[nodiscard]] base::Result<PciAddress> parse_pci_address(std::string_view text);

/// The spelling of sysfs: lower case, four digits of domain (more if necessary).
[[nodiscard]] std::string to_string(const PciAddress& address);

}  // namespace gdrkit::platform
