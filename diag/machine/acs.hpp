// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Acs: the ports between two devices, and how their Access Control Services redirect packets.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

inline constexpr std::uint32_t acs_request_redirect = 0x04;
inline constexpr std::uint32_t acs_completion_redirect = 0x08;
inline constexpr std::uint32_t acs_upstream_forwarding = 0x10;
inline constexpr std::uint32_t acs_egress_control = 0x20;
inline constexpr std::uint32_t acs_direct_translated = 0x40;
/// Each of these sends packets between devices to the processor.
inline constexpr std::uint32_t acs_redirects = acs_request_redirect | acs_completion_redirect | acs_egress_control;

struct Acs {
  std::uint32_t able = 0;  ///< bits that the port supports
  std::uint32_t set = 0;   ///< bits that are set
};

/// Absent: the port does not have ACS.
[[nodiscard]] Fact<Acs> read_acs(const MachineView& view, const std::string& port);

/// The ports strictly below the bridge that both devices are behind. Empty if they share no bridge: then packets pass
/// through the processor anyway, and redirection by the ports does not matter.
[[nodiscard]] std::set<std::string> ports_between(const PciDevice& a, const PciDevice& b);

}  // namespace gdrkit::diag
