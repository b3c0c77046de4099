// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmMapping: one contiguous CPU address range over the pieces of a pin, with the RM and file state behind each piece.
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

/// Undone by destruction, piece by piece in the one safe order: munmap, RM unmap, device file. (RM takes the BAR1
/// mapping away without touching the page tables of this process: a page still mapped then could show another
/// allocation.)
class RmMapping {
 public:
  RmMapping(driver::System& system, RmDevice& device, const DriverLayout& layout) noexcept
      : system_(system), device_(device), layout_(layout) {}
  ~RmMapping();
  RmMapping(const RmMapping&) = delete;
  RmMapping& operator=(const RmMapping&) = delete;

  /// Maps the first `size_bytes` (a multiple of the host's page) of `pieces`, while address() is nullptr. ENOMEM with
  /// BAR1's figures when it is used up.
  base::Status map(const std::vector<OwnedPiece>& pieces, std::size_t size_bytes) noexcept;
  base::Status unmap() noexcept;  ///< runs to its end, first error
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
