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

/// One piece of a pin in BAR1, and the device file through which this process maps it.
struct MappedPart {
  ObjectHandle device = 0;
  ObjectHandle object = 0;
  int device_fd = -1;
  std::uint32_t minor = 0;  ///< of the device file
  std::uint64_t linear_address = 0;
};

struct MappedParts {
  std::vector<MappedPart> parts;
  std::size_t size_bytes = 0;
  cpu::MappingType type = cpu::MappingType::none;
};

/// Thread safe. The two calls that release a part and the three that map it again take longer than mmap and munmap of a
/// small range. Space in BAR1 and descriptors are scarce, so only a few small mappings are kept. A map that lacks
/// either of them, and a pin that fails, call release_all() and try again.
class KeptMappings {
 public:
  static constexpr std::size_t most_mappings = 16;
  static constexpr std::size_t most_bytes_each = std::size_t{1} << 20;

  KeptMappings(driver::System& system, RmClient& client) noexcept : system_(system), client_(client) {}

  /// Keeps the mapping for `owner`. Requires that no mapping of `owner` is kept. If it returns false, the mapping is
  /// unchanged.
  [[nodiscard]] bool keep(const void* owner, MappedParts& mapping) noexcept;
  [[nodiscard]] std::optional<MappedParts> take(const void* owner) noexcept;
  /// Releases all kept mappings, and waits for those that other threads release. Returns whether there was one of
  /// either kind.
  bool release_all() noexcept;
  /// Calls `call`. If it fails and there were kept mappings, releases them and calls it again: they may occupy the
  /// space that the call needs.
  template <class Call>
  auto retry_after_release(Call call) -> decltype(call()) {
    auto result = call();
    if (result || !release_all()) return result;
    return call();
  }
  /// Removes a mapping from BAR1, whose pages must be unmapped. Continues after errors, returns the first.
  base::Status release(const MappedParts& mapping) noexcept;
  /// The same if the objects were freed, with which RM also ends their mappings: only closes the device files.
  base::Status close_files(const MappedParts& mapping) noexcept;
  /// In a forked child: closes the inherited device files. Async-signal-safe.
  void abandon_after_fork() noexcept;

 private:
  struct Kept {
    const void* owner = nullptr;  ///< nullptr: unused
    MappedParts mapping;
  };
  using Table = std::array<Kept, most_mappings>;

  driver::System& system_;
  RmClient& client_;
  std::mutex release_mutex_;  // held while a thread releases all; before mutex_
  std::mutex mutex_;          // guards kept_
  Table kept_;
};

}  // namespace gdrkit::backend::rm
