// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PointerPin: a pin whose mapping is the device address itself, if the CPU can use it (Grace with NVLink-C2C).
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backend.hpp"
#include "backend/pointer_check.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// Whether the CPU can access the pages of `range` at their device addresses. `range` is the result of check_pointer()
/// for `address`. The link to the GPU must be coherent, and CUDA must report this address as the host address. The
/// pages must be readable and belong to one block of CUDA.
[[nodiscard]] bool is_cpu_pointer(const driver::CudaCalls& cuda, std::uint64_t address,
                                  const DeviceRange& range) noexcept;

/// Holds no resources: the memory and its addresses become invalid when the owner frees it, and unmap removes no
/// mapping.
class PointerPin final : public BackendPin {
 public:
  /// Requires that is_cpu_pointer() is true. May throw std::bad_alloc.
  static std::unique_ptr<BackendPin> create(const driver::CudaCalls& cuda, std::uint64_t address,
                                            const DeviceRange& range);

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override;
  base::Status unpin() noexcept override { return unmap(); }
  /// Queries CUDA: a reused address has another buffer ID.
  [[nodiscard]] bool is_invalidated() const noexcept override;
  void abandon_after_fork() noexcept override {}

 private:
  PointerPin(const driver::CudaCalls& cuda, std::uint64_t address, std::uint64_t buffer_id) noexcept
      : cuda_(cuda), address_(address), buffer_id_(buffer_id) {}

  const driver::CudaCalls& cuda_;
  const std::uint64_t address_;  ///< first byte of the user's range
  const std::uint64_t buffer_id_;
  void* mapping_ = nullptr;
};

}  // namespace gdrkit::backend
