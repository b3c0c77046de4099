// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GraceSmmu: requirements of Linux before 6.11 on the IOMMU of a Grace, an SMMUv3. arm-smmu-v3 cannot attach a PASID to
// an identity domain there, and the driver shares page tables with the GPU through a PASID.
#pragma once

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

/// Whether Linux needs translation, so that advice must not recommend pass-through. true and not found: the version of
/// Linux is unknown.
[[nodiscard]] Fact<bool> needs_translation(const MachineView& view);

/// Whether Linux gives the device a PASID: only if all ports above it send its requests up. `reason`: the deciding
/// port.
[[nodiscard]] Fact<bool> has_pasid_path(const MachineView& view, const PciDevice& gpu);

}  // namespace gdrkit::diag
