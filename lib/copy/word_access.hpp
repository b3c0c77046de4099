// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Single accesses to device memory: words, and aligned pieces of up to 64 bytes; the size of a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gdrkit::copy {

/// The unit of the copy kernels: one cache line, one write-combining buffer, one PCIe write.
inline constexpr std::size_t line_bytes = 64;

/// An unsigned integer that may alias objects of any type.
template <std::size_t width>
struct WordOf;
template <>
struct WordOf<1> {
  using Type [[gnu::may_alias]] = std::uint8_t;
};
template <>
struct WordOf<2> {
  using Type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct WordOf<4> {
  using Type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct WordOf<8> {
  using Type [[gnu::may_alias]] = std::uint64_t;
};

using Vector [[gnu::vector_size(16), gnu::may_alias]] = unsigned char;

/// Exactly one store of `width` bytes to `device`, which is aligned to `width`. The store is volatile, so the compiler
/// does not merge or split it. `host` may have any alignment.
template <std::size_t width>
inline void store_word(void* device, const void* host) noexcept {
  typename WordOf<width>::Type word;
  std::memcpy(&word, host, width);
  *static_cast<volatile typename WordOf<width>::Type*>(device) = word;
}

/// Exactly one load of `width` bytes from `device`, which is aligned to `width`.
template <std::size_t width>
inline void load_word(void* host, const void* device) noexcept {
  const typename WordOf<width>::Type word = *static_cast<const volatile typename WordOf<width>::Type*>(device);
  std::memcpy(host, &word, width);
}

/// Exactly one ordinary (not streaming) load of 16, 32 or 64 bytes from `device`, which is aligned to the size. The CPU
/// must have such a load. It is assembly, because it is inlined into functions that run on any CPU.
[[gnu::always_inline]] inline void load_piece(void* host, const void* device, std::size_t piece_bytes) noexcept {
#if defined(__x86_64__)
// vzeroupper clears the upper parts of these registers.
#define GDRKIT_VECTORS                                                                                                \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"
  if (piece_bytes == 64) {
    asm volatile("vmovdqa64 (%1), %%zmm0\n\tvmovdqu64 %%zmm0, (%0)\n\tvzeroupper"
                 :
                 : "r"(host), "r"(device)
                 : "memory", GDRKIT_VECTORS);
  } else if (piece_bytes == 32) {
    asm volatile("vmovdqa (%1), %%ymm0\n\tvmovdqu %%ymm0, (%0)\n\tvzeroupper"
                 :
                 : "r"(host), "r"(device)
                 : "memory", GDRKIT_VECTORS);
  } else {
    asm volatile("movdqa (%1), %%xmm0\n\tmovdqu %%xmm0, (%0)" : : "r"(host), "r"(device) : "memory", "xmm0");
  }
#undef GDRKIT_VECTORS
#else
  static_cast<void>(piece_bytes);
  Vector piece;
#if defined(__aarch64__)
  asm volatile("ldr %q0, [%1]" : "=w"(piece) : "r"(device) : "memory");
#else
  piece = *static_cast<const volatile Vector*>(device);
#endif
  std::memcpy(host, &piece, sizeof piece);
#endif
}

}  // namespace gdrkit::copy
