// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// VisibleDevices: CUDA_VISIBLE_DEVICES as GPUs in PCI order.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gdrkit::diag::bind {

/// The names of a GPU in variables and device nodes.
struct NamedGpu {
  std::string uuid;          ///< GPU-8f1c...; "" if unknown
  std::string kind;          ///< PCI ID: CUDA numbers GPUs with equal IDs in PCI order
  std::optional<int> minor;  ///< N of /dev/nvidiaN; empty if the driver does not list the GPU
};

struct VisibleDevices {
  std::vector<std::size_t> gpus;  ///< positions in the order that the program sees
  bool is_one_by_uuid = false;    ///< one GPU by UUID, which is the same for every rank
};

/// `gpus` in PCI order; `numbered`: those that CUDA counts from 0, because a process does not see GPUs that it cannot
/// open. `is_pci_order`: CUDA_DEVICE_ORDER=PCI_BUS_ID. Throws Failure(usage) for a value that CUDA rejects or that
/// hides all GPUs. It also throws if the GPU is ambiguous: a MIG instance of several possible GPUs, an unknown UUID,
/// or numbers among GPUs of different models, which CUDA orders by speed.
[[nodiscard]] VisibleDevices parse_visible_devices(const std::string& text, const std::vector<NamedGpu>& gpus,
                                                   const std::vector<std::size_t>& numbered, bool is_pci_order);

/// True if all numbered GPUs are of one kind, so that CUDA's order is PCI order.
[[nodiscard]] bool are_equal(const std::vector<NamedGpu>& gpus, const std::vector<std::size_t>& numbered);

}  // namespace gdrkit::diag::bind
