// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Reads lines of a write-combining mapping for verification: many misses at a time, and no stale data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::backend {

/// Copies `rows` pieces of `width` bytes (at most 64), which lie `pitch` bytes apart from `first`, contiguously into
/// `target`. Uses streaming loads for aligned 64-byte lines if the CPU supports them.
void read_rows(std::uint8_t* target, const volatile std::uint8_t* first, std::size_t pitch, std::size_t width,
               std::size_t rows) noexcept;

}  // namespace gdrkit::backend
