// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Reads lines of a write-combining mapping fast enough for verification: many misses at a time, never a stale one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::backend {

/// Copies `rows` pieces of `width` bytes (at most 64), `pitch` bytes apart from `first`, packed into `target`. Lines
/// that are 64 bytes wide and aligned go through streaming loads where the CPU has them.
void read_rows(std::uint8_t* target, const volatile std::uint8_t* first, std::size_t pitch, std::size_t width,
               std::size_t rows) noexcept;

}  // namespace gdrkit::backend
