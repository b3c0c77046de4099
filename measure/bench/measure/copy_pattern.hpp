// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pattern: the contents of verified copies: every byte depends on its position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::measure::bench {

struct Stretch {
  std::size_t offset = 0;
  std::size_t size_bytes = 0;
};

/// The compared parts of a copy: all of it up to 16 MiB, otherwise a MiB at the start, in the middle and at the end.
[[nodiscard]] inline std::vector<Stretch> stretches_of(std::size_t size_bytes) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  if (size_bytes <= 16 * mib) return {{0, size_bytes}};
  return {{0, mib}, {size_bytes / 2 - mib / 2, mib}, {size_bytes - mib, mib}};
}

[[nodiscard]] inline std::uint8_t pattern_byte(std::size_t position, unsigned salt) {
  return static_cast<std::uint8_t>(position * 131 + (position >> 8) * 29 + (position >> 16) * 7 + salt * 83 + 17);
}

/// Writes the pattern of the stretch's positions to bytes[0] on.
inline void write_pattern(std::uint8_t* bytes, const Stretch& stretch, unsigned salt) {
  for (std::size_t at = 0; at < stretch.size_bytes; ++at) bytes[at] = pattern_byte(stretch.offset + at, salt);
}

/// Throws Failure with the position of the first wrong byte.
inline void check_pattern(const std::uint8_t* bytes, const Stretch& stretch, unsigned salt, const char* method) {
  for (std::size_t at = 0; at < stretch.size_bytes; ++at) {
    if (bytes[at] == pattern_byte(stretch.offset + at, salt)) continue;
    cli::fail(cli::format("%s copied wrong content: byte %zu is 0x%02x, expected 0x%02x", method, stretch.offset + at,
                          bytes[at], pattern_byte(stretch.offset + at, salt)));
  }
}

}  // namespace gdrkit::measure::bench
