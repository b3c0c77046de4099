// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuPath: the path of packets between two GPUs of a machine, and the role of the IOMMU.
#pragma once

#include <cstddef>
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

}  // namespace gdrkit::diag
