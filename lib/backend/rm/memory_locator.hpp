// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// From a CUDA pointer to memory objects in our own RM client, by the first strategy that works.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/pointer_check.hpp"
#include "backend/rm/rm_device.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend::rm {

/// Part of a memory object that our client holds a reference on.
struct OwnedPiece {
  ObjectHandle parent = 0;
  ObjectHandle object = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// OwnedPieces that are freed with it, unless abandoned.
class OwnedMemory {
 public:
  explicit OwnedMemory(RmClient& client) noexcept : client_(&client) {}
  OwnedMemory(OwnedMemory&& other) noexcept = default;
  OwnedMemory& operator=(OwnedMemory&& other) = delete;
  ~OwnedMemory() { (void)free(); }

  base::Status free() noexcept;  ///< runs to its end, first error
  void abandon() noexcept { pieces.clear(); }

  std::vector<OwnedPiece> pieces;

 private:
  RmClient* client_;
};

/// References to all of the range's pages, in address order. The caller holds a CudaScope. Order of strategies:
/// observed dma-buf export (any kind of memory), exported file (memory made for it), IPC handle (only when settings
/// allow). The error of the first one that applied is reported. Each object is checked: in video memory, and long
/// enough.
[[nodiscard]] base::Result<OwnedMemory> locate(const driver::CudaCalls& cuda, driver::System& system, RmDevice& device,
                                               const DeviceRange& range, const base::Settings& settings) noexcept;

}  // namespace gdrkit::backend::rm
