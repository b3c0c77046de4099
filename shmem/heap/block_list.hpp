// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BlockList: which ranges of the symmetric heap are taken. The same calls give the same offsets on every PE.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace gdrkit::shmem_impl::heap {

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

struct Block {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// Offsets and sizes in bytes. First fit in address order, so that the same calls give the same offsets on every PE.
class BlockList {
 public:
  /// Offsets and sizes of blocks are multiples of this.
  static constexpr std::uint64_t unit_bytes = 256;

  /// Adds the free range [end(), end() + size_bytes). `size_bytes` must be a multiple of unit_bytes.
  void extend(std::uint64_t size_bytes);
  /// Undoes the last extend(), which had this size. Its range must be free.
  void shrink(std::uint64_t size_bytes);
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

  /// `alignment` must be a power of two. Returns nullopt if no free range is large enough.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size_bytes, std::uint64_t alignment);
  /// Returns by how many bytes the list must be extended for take() to succeed.
  [[nodiscard]] std::uint64_t missing_bytes(std::uint64_t size_bytes, std::uint64_t alignment) const;
  /// Returns false if no taken block starts at `offset`.
  bool release(std::uint64_t offset);
  /// Returns the taken block that contains `offset`, with its requested size.
  [[nodiscard]] std::optional<Block> find(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept { return taken_bytes_; }

 private:
  void add_free(std::uint64_t offset, std::uint64_t size_bytes);

  std::map<std::uint64_t, std::uint64_t> free_;   // offset: size
  std::map<std::uint64_t, std::uint64_t> taken_;  // offset: requested size
  std::uint64_t end_ = 0;
  std::uint64_t taken_bytes_ = 0;
};

}  // namespace gdrkit::shmem_impl::heap
