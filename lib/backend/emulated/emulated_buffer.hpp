// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EmulatedBuffer: memory of the emulated device, allocated and copied as by a driver.
#pragma once

#include <cstddef>
#include <memory>

#include "backend/backend.hpp"

namespace gdrkit::backend::emulated {

class EmulatedBuffer final : public BackendBuffer {
 public:
  /// ENODEV unless 0 <= device < device_count.
  [[nodiscard]] static base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, int device_count,
                                                                             std::size_t size_bytes) noexcept;
  EmulatedBuffer(const EmulatedBuffer&) = delete;
  EmulatedBuffer& operator=(const EmulatedBuffer&) = delete;
  ~EmulatedBuffer() override { (void)free(); }

  base::Status copy_from_host(std::size_t offset, const void* source, std::size_t size_bytes) noexcept override;
  base::Status copy_to_host(std::size_t offset, void* target, std::size_t size_bytes) noexcept override;
  base::Status free() noexcept override;
  void abandon_after_fork() noexcept override;

 private:
  EmulatedBuffer() = default;
};

}  // namespace gdrkit::backend::emulated
