// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How a handle is made: slot index, generation and kind under a key drawn once for each loaded copy of the library.
#pragma once

#include <atomic>
#include <cstdint>

namespace gdrkit::core {

/// A context's, pin's, buffer's or started copy's name. Never 0, never a canonical pointer (its top bit is set). A
/// NULL, stale, foreign or invented handle is recognised and rejected with EINVAL.
using Handle = std::uint64_t;

enum class HandleKind : std::uint64_t { context = 0, pin = 1, buffer = 2, copy = 3 };

inline constexpr unsigned index_bits = 20;
inline constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
inline constexpr unsigned kind_shift = 61;  // two bits below the top one, which is the key's
inline constexpr unsigned generation_bits = kind_shift - index_bits;
inline constexpr std::uint64_t last_generation = (std::uint64_t{1} << generation_bits) - 1;

/// 0 until draw_handle_key(); constant afterwards. Two libraries in one process draw different keys, so that one's
/// handle looks to the other like a random generation of a random kind. The bits of the index are all ones: handle 0
/// decodes to the last index, which is never given out, and needs no test of its own on the copy path.
extern std::atomic<std::uint64_t> handle_key;

void draw_handle_key() noexcept;

[[nodiscard]] inline std::uint32_t index_of(Handle handle) noexcept {
  return static_cast<std::uint32_t>((handle ^ handle_key.load(std::memory_order_relaxed)) & index_mask);
}

[[nodiscard]] inline Handle make_handle(HandleKind kind, std::uint64_t generation, std::uint32_t index) noexcept {
  const std::uint64_t plain = static_cast<std::uint64_t>(kind) << kind_shift | generation << index_bits | index;
  return plain ^ handle_key.load(std::memory_order_relaxed);
}

}  // namespace gdrkit::core
