// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DmabufPin: one pinned range of the dmabuf backend.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/dmabuf/dmabuf_backend.hpp"
#include "backend/dmabuf/dmabuf_mapping.hpp"
#include "backend/pointer_check.hpp"

namespace gdrkit::backend::dmabuf {

class DmabufPin final : public BackendPin {
 public:
  /// May throw std::bad_alloc.
  static base::Result<std::unique_ptr<BackendPin>> create(DmabufBackend& backend, const DeviceRange& range,
                                                          bool must_be_pcie);
  ~DmabufPin() override { (void)unpin(); }

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override { return mapping_.unmap(); }
  base::Status unpin() noexcept override { return mapping_.release(); }
  [[nodiscard]] bool keeps_memory() const noexcept override { return true; }
  void abandon_after_fork() noexcept override { mapping_.abandon_after_fork(); }

 private:
  DmabufPin(DmabufBackend& backend, const DeviceRange& range);

  DmabufBackend& backend_;
  DeviceRange range_;
  std::vector<std::uint64_t> blocks_;  ///< device addresses at which CUDA's blocks start
  DmabufMapping mapping_;
};

}  // namespace gdrkit::backend::dmabuf
