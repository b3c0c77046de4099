// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DmabufMapping: the dma-buf of one range of device memory, and its mapping in the CPU's address space.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "backend/calibration.hpp"
#include "backend/pointer_check.hpp"
#include "base/result.hpp"
#include "cpu/mapping_type.hpp"
#include "driver/cuda.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::dmabuf {

/// The descriptor and each of its mappings hold a reference to the memory, even after its owner frees it. Not thread
/// safe.
class DmabufMapping {
 public:
  DmabufMapping(driver::System& system, const driver::CudaCalls& cuda) noexcept : system_(system), cuda_(cuda) {}
  ~DmabufMapping() { (void)release(); }
  DmabufMapping(const DmabufMapping&) = delete;
  DmabufMapping& operator=(const DmabufMapping&) = delete;

  /// Exports the pages of the range with CUDA. The export is for a coherent link if the GPU has one, else for PCIe if
  /// the driver supports this flag. `must_be_pcie`: fails if PCIe is not possible. The caller holds a CudaScope.
  base::Status take(const DeviceRange& range, bool must_be_pcie) noexcept;
  /// Maps the first `size_bytes` (a multiple of the host page size). ENOMEM: BAR1 is full; the text contains its size.
  base::Status map(std::size_t size_bytes) noexcept;
  base::Status unmap() noexcept;
  base::Status release() noexcept;  ///< unmaps and closes; continues after errors, returns the first
  void abandon_after_fork() noexcept;

  [[nodiscard]] std::uint8_t* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] cpu::MappingType type() const noexcept { return type_; }

 private:
  base::Status export_pages(std::uint64_t address, std::uint64_t bytes, bool must_be_pcie) noexcept;
  base::Status bar1_is_full(std::uint64_t bytes, const char* cause) const noexcept;

  driver::System& system_;
  const driver::CudaCalls& cuda_;
  int fd_ = -1;
  int ordinal_ = 0;
  off_t offset_ = 0;  ///< offset of the range in the dma-buf
  cpu::MappingType type_ = cpu::MappingType::none;
  std::uint8_t* address_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Maps scratch memory through its dma-buf. `failure` is the error of the last map.
class DmabufScratch final : public ScratchMap {
 public:
  DmabufScratch(driver::System& system, const driver::CudaCalls& cuda) noexcept : mapping_(system, cuda) {}
  std::uint8_t* map(const DeviceRange& range) noexcept override;
  bool unmap() noexcept override;
  [[nodiscard]] const base::Status& failure() const noexcept { return failure_; }

 private:
  DmabufMapping mapping_;
  base::Status failure_;
};

}  // namespace gdrkit::backend::dmabuf
