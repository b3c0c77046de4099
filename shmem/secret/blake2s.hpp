// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BLAKE2s (RFC 7693) with a key: a message authentication code of 32 bytes, and keys derived from another one.
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

/// Of all parts, one after the other. `key`: 0 to 32 bytes; 0: an ordinary hash.
[[nodiscard]] Digest blake2s(Bytes key, std::initializer_list<Bytes> parts) noexcept;

/// A key for one purpose: who has it learns neither `key` nor the keys for other purposes.
[[nodiscard]] Key derive_key(const Key& key, std::string_view purpose,
                             std::initializer_list<Bytes> context = {}) noexcept;

/// Takes the same time wherever they differ, so that a stranger does not learn the right value byte by byte.
[[nodiscard]] bool are_equal(Bytes one, Bytes other) noexcept;

}  // namespace gdrkit::shmem_impl::secret
