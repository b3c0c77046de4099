// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ProvedLocations: the allocations whose objects were verified by content, so that later mappings need no comparison.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "backend/pointer_check.hpp"
#include "backend/rm/memory_locator.hpp"

namespace gdrkit::backend::rm {

/// Remembers the last allocations of cuMemAlloc. CUDA never uses a buffer ID twice in a process, so the same ID is the
/// same allocation. The object and the offset behind such memory do not change while it is allocated. Other memory can
/// be unmapped and mapped to another object under the same address, so it is never remembered. Thread safe.
class ProvedLocations {
 public:
  /// Whether an earlier comparison covered these pages, in the same objects at the same offsets.
  [[nodiscard]] bool contains(const DeviceRange& range, std::span<const OwnedPiece> pieces) noexcept;
  /// Call after a comparison of the contents of `mapped_bytes` from the first page on.
  void add(const DeviceRange& range, std::span<const OwnedPiece> pieces, std::size_t mapped_bytes) noexcept;

 private:
  struct Location {
    std::uint64_t buffer_id = 0;
    std::int32_t device_ordinal = -1;
    std::uint32_t client = 0;
    std::uint32_t object = 0;
    std::uint64_t object_start = 0;  ///< device address of the object's first byte, modulo 2^64
    std::uint64_t first = 0;         ///< the compared addresses
    std::uint64_t end = 0;
  };
  static constexpr std::size_t most_locations = 64;

  std::mutex mutex_;
  std::array<Location, most_locations> locations_{};
  std::size_t next_ = 0;
};

}  // namespace gdrkit::backend::rm
