// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeerMemory: whether the libraries detect a peer-memory module, and whether files rule out dma-buf.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

/// A library only checks whether one of its files exists. value: the file that was found.
struct Detection {
  const char* library;
  Fact<std::string> file;  ///< absent: its files do not exist, so it detects no module
};

/// In the order NCCL, UCX, NVSHMEM.
[[nodiscard]] std::vector<Detection> peer_memory_detections(const MachineView& view);

/// found: the reason why dma-buf is possible for at least one GPU. absent: the reason that rules it out for all GPUs,
/// from files or CUDA. Only a registration proves that it works for an adapter.
[[nodiscard]] Fact<std::string> dmabuf_possible(const Machine& machine);

/// Addresses of the GPUs that do not export dma-bufs according to CUDA; "" if there are none. Others may not have been
/// queried.
[[nodiscard]] std::string gpus_without_dmabuf(const Machine& machine);

}  // namespace gdrkit::diag
