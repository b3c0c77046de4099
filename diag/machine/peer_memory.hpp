// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeerMemory: whether the libraries take a peer-memory module for loaded, and whether files speak against dma-buf.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

/// A library looks whether one of its files exists; nothing more. value: the file that made it believe.
struct Belief {
  const char* library;
  Fact<std::string> file;  ///< absent: its files do not exist, so it detects no module
};

/// In the order NCCL, UCX, NVSHMEM.
[[nodiscard]] std::vector<Belief> peer_memory_beliefs(const MachineView& view);

/// found: what makes dma-buf possible for a GPU at least; absent: what rules it out for all: files, and CUDA's word
/// where it was asked. That it works for an adapter, only registering one tells.
[[nodiscard]] Fact<std::string> dmabuf_possible(const Machine& machine);

/// Addresses of the GPUs of which CUDA said that they export none, "" for none; it may not have been asked of others.
[[nodiscard]] std::string gpus_without_dmabuf(const Machine& machine);

}  // namespace gdrkit::diag
