// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmMapping: one contiguous CPU address range for the pieces of a pin, with the RM mapping and file of each piece.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/rm/driver_layout.hpp"
#include "backend/rm/kept_mappings.hpp"
#include "backend/rm/memory_locator.hpp"
#include "backend/rm/rm_device.hpp"
#include "base/result.hpp"
#include "cpu/mapping_type.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::rm {

/// The destructor calls munmap first. It then calls RM unmap for each piece, and closes the device files last. RM
/// releases the BAR1 mapping without changing the page tables of this process, so a page that is still mapped could
/// expose another allocation. After unmap_pages() or unmap_and_keep(), address() is nullptr unless munmap failed.
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
  base::Status unmap() noexcept;           ///< continues after errors, returns the first
  base::Status unmap_and_keep() noexcept;  ///< keeps small mappings in BAR1 for the next map() (KeptMappings)
  base::Status unmap_pages() noexcept;     ///< BAR1 and the files remain
  /// Closes the device files. Call it after unmap_pages() and after freeing the objects, which also ends their BAR1
  /// mappings.
  base::Status close_files() noexcept;
  void abandon_after_fork() noexcept;

  [[nodiscard]] std::uint8_t* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] cpu::MappingType type() const noexcept { return mapped_.type; }

 private:
  base::Status reserve(std::size_t size_bytes) noexcept;
  base::Status map_part(std::size_t index, const OwnedPiece& piece, std::size_t at, std::size_t length) noexcept;
  base::Status add_part(const OwnedPiece& piece, std::size_t length) noexcept;
  base::Status try_add_part(const OwnedPiece& piece, std::size_t length) noexcept;
  base::Status rm_map(MappedPart& part, const OwnedPiece& piece, std::size_t length) noexcept;
  [[nodiscard]] MappedParts take_parts() noexcept;
  base::Status release_parts() noexcept;

  driver::System& system_;
  RmDevice& device_;
  const DriverLayout layout_;
  std::uint8_t* address_ = nullptr;
  std::size_t size_bytes_ = 0;  ///< of the mapped address range; 0 after unmap
  bool is_kept_ = false;        ///< mapped_ was passed to KeptMappings, where it may still be
  MappedParts mapped_;          ///< its size_bytes is that of the last map()
};

}  // namespace gdrkit::backend::rm
