// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Grace: what NVIDIA's Grace processor needs for direct access: Data Direct functions of adapters, and its IOMMU.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

/// A function of a ConnectX-8 that reaches a GPU through a dedicated switch and bypasses the Grace processor.
struct DataDirect {
  PciDevice function;
  PciDevice gpu;              ///< address "" unless exactly one GPU is below the same root port
  std::string root;           ///< the root port of both
  std::string function_port;  ///< the port of the shared switch that leads to the function,
  std::string gpu_port;       ///< and to the GPU; "" if they share no switch
};

/// All of the machine, in PCI order. Not found: a device of the list could not be read.
[[nodiscard]] Fact<std::vector<DataDirect>> find_data_direct(const Machine& machine);

/// Whether this is the processor for which the redirection pattern is known.
[[nodiscard]] Fact<bool> is_grace(const MachineView& view);

/// Before 6.11, arm-smmu-v3 cannot attach a PASID to an identity domain of the IOMMU, an SMMUv3, and the driver shares
/// page tables with the GPU through a PASID. Whether Linux needs translation for that, so that advice must not
/// recommend pass-through. true and not found: the version of Linux is unknown.
[[nodiscard]] Fact<bool> needs_translation(const MachineView& view);

/// Whether Linux gives the device a PASID: only if all ports above it send its requests up. `reason`: the deciding
/// port.
[[nodiscard]] Fact<bool> has_pasid_path(const MachineView& view, const PciDevice& gpu);

}  // namespace gdrkit::diag
