// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PciPath: the ports between two devices, how their Access Control Services redirect packets, and the paths of packets
// between two GPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

enum class Route {
  nvlink,
  bridge,     ///< through a PCIe bridge that both GPUs are behind
  processor,  ///< up to the root complex and down again
};

struct GpuPath {
  std::size_t first = 0;  ///< in Machine::gpus, first < second
  std::size_t second = 0;
  Route route = Route::processor;
  bool may_be_nvlink = false;  ///< unknown whether NVLink replaces this path
  std::set<std::string>
      ports;  ///< those that may redirect: below the common bridge; all up to the processor if there is none
  Fact<std::string>
      iommu;  ///< type of the groups; if they differ, the one that translates; absent: neither GPU is in a group
  [[nodiscard]] bool is_translated() const { return iommu.is_found() && iommu.value.starts_with("DMA"); }
};

/// All pairs of the first GPUs (PciTree::most_gpus).
[[nodiscard]] std::vector<GpuPath> read_gpu_paths(const Machine& machine);

/// Type of the device's IOMMU group: identity, DMA, DMA-FQ. absent: the device is not in a group.
[[nodiscard]] Fact<std::string> iommu_type(const MachineView& view, const PciDevice& device);

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
