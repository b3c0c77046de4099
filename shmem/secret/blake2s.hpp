// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Keyed BLAKE2s (RFC 7693): a message authentication code of 32 bytes, and derivation of keys from a key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

namespace gdrkit::shmem_impl::secret {

using Key = std::array<std::uint8_t, 32>;
using Digest = std::array<std::uint8_t, 32>;
using Bytes = std::span<const std::uint8_t>;

/// The bytes of a trivially copyable object.
template <class T>
requires(std::is_trivially_copyable_v<T> && !std::is_convertible_v<const T&, std::string_view>) [[nodiscard]] Bytes
    bytes_of(const T& object) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(&object), sizeof object};
}
[[nodiscard]] inline Bytes bytes_of(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Hashes the concatenation of `parts`. `key` has 0 to 32 bytes; without a key this is an ordinary hash.
[[nodiscard]] Digest blake2s(Bytes key, std::initializer_list<Bytes> parts) noexcept;

/// Derives a key for one purpose. The derived key reveals neither `key` nor the keys for other purposes.
[[nodiscard]] Key derive_key(const Key& key, std::string_view purpose,
                             std::initializer_list<Bytes> context = {}) noexcept;

/// Compares in constant time, so that an attacker cannot find the right value byte by byte.
[[nodiscard]] bool are_equal(Bytes one, Bytes other) noexcept;

}  // namespace gdrkit::shmem_impl::secret
