// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EmulatedPin: pinned pages of the emulated device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/backend.hpp"

namespace gdrkit::backend::emulated {

class EmulatedPin final : public BackendPin {
 public:
  /// Keeps the pages alive after their owner frees them. They must lie inside one emulated allocation.
  [[nodiscard]] static base::Result<std::unique_ptr<BackendPin>> create(std::uint64_t page_address,
                                                                        std::size_t page_bytes) noexcept;
  EmulatedPin(const EmulatedPin&) = delete;
  EmulatedPin& operator=(const EmulatedPin&) = delete;
  ~EmulatedPin() override { (void)unpin(); }

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override;
  base::Status unpin() noexcept override;
  [[nodiscard]] bool keeps_memory() const noexcept override { return true; }
  void abandon_after_fork() noexcept override;

 private:
  EmulatedPin() = default;

  void* held_ = nullptr;  // nullptr after unpin or abandon_after_fork
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
};

}  // namespace gdrkit::backend::emulated
