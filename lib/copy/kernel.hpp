// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Shared by all copy kernels: the line size and the single scalar access to device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gdrkit::copy {

/// The unit of the copy kernels: one cache line, one write-combining buffer, one PCIe write.
inline constexpr std::size_t line_bytes = 64;

namespace copy_kernel {

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

/// Exactly one store of `width` bytes to `device`, which is aligned to `width`. It is volatile, so the compiler does
/// not merge or split it. `host` may have any alignment.
template <std::size_t width>
inline void store_word(void* device, const void* host) noexcept {
  typename WordOf<width>::Type word;
  std::memcpy(&word, host, width);
  *static_cast<volatile typename WordOf<width>::Type*>(device) = word;
}

/// The same for 16 bytes, in a vector register that every processor of the architecture has.
inline void store_vector([[maybe_unused]] void* device, [[maybe_unused]] const void* host) noexcept {
#if defined(__x86_64__)
  using Vector [[gnu::vector_size(16), gnu::may_alias]] = long long;
  Vector vector;
  std::memcpy(&vector, host, sizeof vector);
  *static_cast<volatile Vector*>(device) = vector;
#endif
}

/// Exactly one load of `width` bytes from `device`, which is aligned to `width`.
template <std::size_t width>
inline void load_word(void* host, const void* device) noexcept {
  const typename WordOf<width>::Type word = *static_cast<const volatile typename WordOf<width>::Type*>(device);
  std::memcpy(host, &word, width);
}

}  // namespace copy_kernel
}  // namespace gdrkit::copy
