// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Finds the memory objects of a CUDA pointer and duplicates them into our RM client, by the first strategy that works.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/pointer_check.hpp"
#include "backend/rm/memory_piece.hpp"
#include "backend/rm/rm_device.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend::rm {

/// Part of a memory object to which our client holds a reference.
struct OwnedPiece {
  ObjectHandle parent = 0;
  ObjectHandle object = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  MemoryPiece source = {};  ///< what was duplicated; empty for an imported file
};

/// OwnedPieces that the destructor frees, unless they were abandoned.
class OwnedMemory {
 public:
  explicit OwnedMemory(RmClient& client) noexcept : client_(&client) {}
  OwnedMemory(OwnedMemory&& other) noexcept = default;
  OwnedMemory& operator=(OwnedMemory&& other) = delete;
  ~OwnedMemory() { (void)free(); }

  base::Status free() noexcept;  ///< continues after errors, returns the first
  void abandon() noexcept { pieces.clear(); }

  std::vector<OwnedPiece> pieces;

 private:
  RmClient* client_;
};

/// Returns references to all pages of the range, in address order. The caller holds a CudaScope. Tries three strategies
/// in this order: observed dma-buf export (any memory), exported file (memory allocated for it), IPC handle (if the
/// settings allow it). Returns the error of the first strategy. Checks that each object is video memory and long
/// enough.
[[nodiscard]] base::Result<OwnedMemory> locate(const driver::CudaCalls& cuda, driver::System& system, RmDevice& device,
                                               const DeviceRange& range, const base::Settings& settings) noexcept;

}  // namespace gdrkit::backend::rm
