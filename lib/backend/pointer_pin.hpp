// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PointerPin: a pin whose mapping is the device address, on platforms where the CPU may use it (Grace with NVLink-C2C).
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backend.hpp"
#include "backend/pointer_check.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// Whether the CPU may use the pages of `range`, which `address` was checked for, at their device addresses: the link
/// to the GPU is coherent, CUDA names this very address for the host, and the pages can be loaded from. They must
/// belong to one block of CUDA's.
[[nodiscard]] bool is_cpu_pointer(const driver::CudaCalls& cuda, std::uint64_t address,
                                  const DeviceRange& range) noexcept;

/// Holds nothing: the memory and its addresses end with the owner's free, and unmap takes no address away.
class PointerPin final : public BackendPin {
 public:
  /// For what is_cpu_pointer was true for. May throw std::bad_alloc.
  static std::unique_ptr<BackendPin> create(const driver::CudaCalls& cuda, std::uint64_t address,
                                            const DeviceRange& range);

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override;
  base::Status unpin() noexcept override { return unmap(); }
  /// Asks CUDA: an address that was given out again has another buffer id.
  [[nodiscard]] bool is_invalidated() const noexcept override;
  void abandon_after_fork() noexcept override {}

 private:
  PointerPin(const driver::CudaCalls& cuda, std::uint64_t address, std::uint64_t buffer_id) noexcept
      : cuda_(cuda), address_(address), buffer_id_(buffer_id) {}

  const driver::CudaCalls& cuda_;
  const std::uint64_t address_;  ///< the user's own
  const std::uint64_t buffer_id_;
  void* mapping_ = nullptr;
};

}  // namespace gdrkit::backend
