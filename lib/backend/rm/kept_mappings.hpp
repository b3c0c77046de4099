// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// KeptMappings: RM mappings that stay in BAR1 after their pages were unmapped, for the next map of the same pin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/rm/rm_client.hpp"
#include "cpu/mapping_type.hpp"

namespace gdrkit::backend::rm {

/// One piece of a pin in BAR1, and the device file through which processes map it.
struct MappedPart {
  ObjectHandle object = 0;
  int device_fd = -1;
  std::uint64_t linear_address = 0;
};

struct MappedParts {
  std::vector<MappedPart> parts;
  std::size_t size_bytes = 0;
  cpu::MappingType type = cpu::MappingType::none;
};

/// Thread safe. The two calls that release a part and the three that map it again take longer than mmap and munmap of a
/// small range. Space in BAR1 and descriptors are scarce, so only few and small mappings are kept, and the next call
/// that lacks either of them releases them all (RmDevice::release_kept).
class KeptMappings {
 public:
  static constexpr std::size_t most_mappings = 16;
  static constexpr std::size_t most_bytes_each = std::size_t{1} << 20;

  /// Keeps the mapping for `owner`, which has none here. If it returns false, the mapping is unchanged.
  [[nodiscard]] bool keep(const void* owner, MappedParts& mapping) noexcept;
  [[nodiscard]] std::optional<MappedParts> take(const void* owner) noexcept;
  [[nodiscard]] std::optional<MappedParts> take_any() noexcept;
  /// In a forked child: closes the inherited device files.
  void abandon_after_fork(driver::System& system) noexcept;

 private:
  struct Kept {
    const void* owner = nullptr;  ///< nullptr: unused
    MappedParts mapping;
  };

  std::mutex mutex_;  // guards kept_
  std::array<Kept, most_mappings> kept_;
};

}  // namespace gdrkit::backend::rm
