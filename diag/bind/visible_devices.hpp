// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// VisibleDevices: CUDA_VISIBLE_DEVICES as GPUs in PCI order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrkit::tools {

/// A GPU as far as the variable can name it.
struct NamedGpu {
  std::string uuid;  ///< GPU-8f1c...; "" when it is not known
  std::string kind;  ///< PCI ID: CUDA numbers equal ones in PCI order
};

struct VisibleDevices {
  std::vector<std::size_t> gpus;  ///< positions in the order that the program sees
  bool is_one_by_uuid = false;    ///< one GPU, named so that it is the same for every rank
};

/// `gpus` in PCI order. Throws Failure(usage) for what CUDA would not take, what hides all GPUs, and what files do not
/// tell: MIG instances, a UUID that is not known, numbers among different GPUs that CUDA orders by speed
/// (`is_pci_order`: CUDA_DEVICE_ORDER=PCI_BUS_ID).
[[nodiscard]] VisibleDevices parse_visible_devices(const std::string& text, const std::vector<NamedGpu>& gpus,
                                                   bool is_pci_order);

/// All GPUs are of one kind, so that CUDA's order is PCI order.
[[nodiscard]] bool are_equal(const std::vector<NamedGpu>& gpus);

}  // namespace gdrkit::tools
