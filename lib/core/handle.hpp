// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A handle: slot index, generation and kind, XORed with a key that each loaded copy of the library draws once.
#pragma once

#include <atomic>
#include <cstdint>

namespace gdrkit::core {

/// Identifies a context, pin, buffer or started copy. Never 0 and never a canonical pointer (its top bit is set). Calls
/// reject a NULL, stale, foreign or invented handle with EINVAL.
using Handle = std::uint64_t;

enum class HandleKind : std::uint64_t { context = 0, pin = 1, buffer = 2, copy = 3 };

inline constexpr unsigned index_bits = 20;
inline constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
inline constexpr unsigned kind_shift = 61;  // two bits below the top bit, which belongs to the key
inline constexpr unsigned generation_bits = kind_shift - index_bits;
inline constexpr std::uint64_t last_generation = (std::uint64_t{1} << generation_bits) - 1;

/// 0 until draw_handle_key(), then constant. Two libraries in one process draw different keys, so a handle of one
/// decodes to a random generation and kind in the other. The bits of the index are all ones: the copy path finds the
/// slot without the key, and handle 0 decodes to the last index, which is never used.
extern std::atomic<std::uint64_t> handle_key;

void draw_handle_key() noexcept;

[[nodiscard]] inline std::uint32_t index_of(Handle handle) noexcept {
  return static_cast<std::uint32_t>(~handle & index_mask);
}

[[nodiscard]] inline Handle make_handle(HandleKind kind, std::uint64_t generation, std::uint32_t index) noexcept {
  const std::uint64_t plain = static_cast<std::uint64_t>(kind) << kind_shift | generation << index_bits | index;
  return plain ^ handle_key.load(std::memory_order_relaxed);
}

}  // namespace gdrkit::core
