// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmPin: one pinned range of the rm backend.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/pointer_check.hpp"
#include "backend/rm/memory_locator.hpp"
#include "backend/rm/rm_backend.hpp"
#include "backend/rm/rm_mapping.hpp"

namespace gdrkit::backend::rm {

class RmPin final : public BackendPin {
 public:
  RmPin(RmBackend& backend, RmDevice& device, const DeviceRange& range, OwnedMemory memory);
  ~RmPin() override { (void)unpin(); }

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override;
  base::Status unpin() noexcept override;
  [[nodiscard]] bool keeps_memory() const noexcept override { return true; }
  void abandon_after_fork() noexcept override;

 private:
  base::Result<Verification> verify() noexcept;

  RmBackend& backend_;
  RmDevice& rm_device_;
  DeviceRange range_;
  OwnedMemory memory_;
  std::vector<std::uint64_t> starts_;  ///< device addresses of the pieces
  RmMapping mapping_;
};

}  // namespace gdrkit::backend::rm
