// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Splits a range of device bytes into naturally aligned scalar accesses, each byte in exactly one of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copy/word_access.hpp"

namespace gdrkit::copy {

template <std::size_t width_>
struct Width {
  static constexpr std::size_t bytes = width_;
};

/// Calls visit(offset, Width<n>{}) with n in {1, 2, 4, 8} for each access to [address, address + size), in ascending
/// order. Widths grow until the address is a multiple of 8 and shrink at the end, so most accesses have 8 bytes.
template <class Visit>
[[gnu::always_inline]] constexpr void for_each_piece(std::uintptr_t address, std::size_t size, Visit visit) noexcept {
  std::size_t offset = 0;
  const auto take = [&](auto width) {
    visit(offset, width);
    offset += width.bytes;
  };
  // A step up is skipped if fewer bytes are left. The rest is then smaller than the current alignment, so the steps
  // down stay aligned.
  if ((address & 7) != 0) {
    if ((address & 1) != 0 && size >= 1) take(Width<1>{});
    if (((address + offset) & 2) != 0 && size - offset >= 2) take(Width<2>{});
    if (((address + offset) & 4) != 0 && size - offset >= 4) take(Width<4>{});
  }
  while (size - offset >= 8) take(Width<8>{});
  const std::size_t rest = size - offset;
  if ((rest & 4) != 0) take(Width<4>{});
  if ((rest & 2) != 0) take(Width<2>{});
  if ((rest & 1) != 0) take(Width<1>{});
}

/// A range split at the boundaries of 64-byte lines.
struct LineSplit {
  std::size_t head_bytes;  ///< before the first whole line; the whole range if it contains no line boundary
  std::size_t line_count;
  std::size_t tail_bytes;  ///< after the last whole line
};

[[nodiscard]] constexpr LineSplit split_at_lines(std::uintptr_t address, std::size_t size) noexcept {
  const std::size_t to_boundary = (line_bytes - address % line_bytes) % line_bytes;
  const std::size_t head_bytes = to_boundary < size ? to_boundary : size;
  const std::size_t rest = size - head_bytes;
  return {head_bytes, rest / line_bytes, rest % line_bytes};
}

}  // namespace gdrkit::copy
