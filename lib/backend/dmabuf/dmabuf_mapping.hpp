// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DmabufMapping: the dma-buf of one range of device memory, and its place in the CPU's address space.
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

/// The descriptor and each mapping of it hold a reference to the memory, which its owner cannot end. Not thread safe.
class DmabufMapping {
 public:
  DmabufMapping(driver::System& system, const driver::CudaCalls& cuda) noexcept : system_(system), cuda_(cuda) {}
  ~DmabufMapping() { (void)release(); }
  DmabufMapping(const DmabufMapping&) = delete;
  DmabufMapping& operator=(const DmabufMapping&) = delete;

  /// Has CUDA export the range's pages: over a coherent link where there is one, else to be mapped over PCIe where the
  /// driver has that request. `must_be_pcie`: over PCIe or not at all. The caller holds a CudaScope.
  base::Status take(const DeviceRange& range, bool must_be_pcie) noexcept;
  /// Maps the first `size_bytes` (a multiple of the host's page). ENOMEM with BAR1's size where it is used up.
  base::Status map(std::size_t size_bytes) noexcept;
  base::Status unmap() noexcept;
  base::Status release() noexcept;  ///< unmaps and closes; runs to its end, first error
  void abandon_after_fork() noexcept;

  [[nodiscard]] std::uint8_t* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] cpu::MappingType type() const noexcept { return type_; }

 private:
  base::Status export_pages(std::uint64_t address, std::uint64_t bytes, bool must_be_pcie) noexcept;
  base::Status used_up(std::uint64_t bytes, const char* cause) const noexcept;

  driver::System& system_;
  const driver::CudaCalls& cuda_;
  int fd_ = -1;
  int ordinal_ = 0;
  off_t offset_ = 0;  ///< of the range in the dma-buf
  cpu::MappingType type_ = cpu::MappingType::none;
  std::uint8_t* address_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Scratch memory mapped by its dma-buf; `failure` is why it was not.
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
