// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmMapping: one contiguous CPU address range for the pieces of a pin, with the RM mapping and file of each piece.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/rm/driver_layout.hpp"
#include "backend/rm/memory_locator.hpp"
#include "backend/rm/rm_device.hpp"
#include "base/result.hpp"
#include "cpu/mapping_type.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::rm {

/// The destructor unmaps in the only safe order: munmap, then RM unmap and device file of each piece. RM releases the
/// BAR1 mapping without changing the page tables of this process, so a page that is still mapped could expose another
/// allocation.
class RmMapping {
 public:
  RmMapping(driver::System& system, RmDevice& device, const DriverLayout& layout) noexcept
      : system_(system), device_(device), layout_(layout) {}
  ~RmMapping();
  RmMapping(const RmMapping&) = delete;
  RmMapping& operator=(const RmMapping&) = delete;

  /// Maps the first `size_bytes` (a multiple of the host page size) of `pieces`. Requires that address() is nullptr.
  /// ENOMEM: BAR1 is full; the text contains its usage.
  base::Status map(const std::vector<OwnedPiece>& pieces, std::size_t size_bytes) noexcept;
  base::Status unmap() noexcept;  ///< continues after errors, returns the first
  void abandon_after_fork() noexcept;

  [[nodiscard]] std::uint8_t* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] cpu::MappingType type() const noexcept { return type_; }

 private:
  struct Part {
    ObjectHandle object = 0;
    int device_fd = -1;
    std::uint64_t linear_address = 0;
    bool is_rm_mapped = false;
  };
  base::Status reserve(std::size_t size_bytes) noexcept;
  base::Status map_part(const OwnedPiece& piece, std::size_t at, std::size_t length) noexcept;
  base::Status rm_map(Part& part, const OwnedPiece& piece, std::size_t length) noexcept;

  driver::System& system_;
  RmDevice& device_;
  const DriverLayout layout_;
  std::uint8_t* address_ = nullptr;
  std::size_t size_bytes_ = 0;
  cpu::MappingType type_ = cpu::MappingType::none;
  std::vector<Part> parts_;
};

}  // namespace gdrkit::backend::rm
