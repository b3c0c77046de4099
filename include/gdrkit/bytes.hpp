// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_BYTES_HPP
#define GDRKIT_BYTES_HPP

#include <cstddef>
#include <ranges>
#include <type_traits>

/// @file
/// @brief Bytes: the host data that may be copied byte by byte.

namespace gdrkit {

/// @brief A trivially copyable type except pointers: an address of this process is meaningless elsewhere.
template <class T>
concept CopyableElement = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> &&
                          !std::is_null_pointer_v<T>;

/// @brief Contiguous data that may be copied byte by byte: std::vector, std::array, std::span, std::string_view,
/// arrays.
template <class Range>
concept Bytes = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    CopyableElement<std::ranges::range_value_t<Range>>;

/// @brief Bytes that can be written and that outlive the call: an lvalue, or a view such as std::span.
template <class Range>
concept WritableBytes = Bytes<Range> && std::ranges::borrowed_range<Range> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// @brief A value that is stored and loaded with one instruction: 1, 2, 4 or 8 bytes.
template <class T>
concept FlagValue = CopyableElement<T> &&(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

/// @cond private
namespace detail {

template <class T>
inline constexpr bool is_character =
    std::is_same_v<T, const char> || std::is_same_v<T, const wchar_t> || std::is_same_v<T, const char8_t> ||
    std::is_same_v<T, const char16_t> || std::is_same_v<T, const char32_t>;

/// The type of a string literal. A const character array that is not a literal has the same type.
template <class Range>
inline constexpr bool is_literal = std::is_bounded_array_v<std::remove_reference_t<Range>>&&
    is_character<std::remove_extent_t<std::remove_reference_t<Range>>>;

template <class Range>
[[nodiscard]] std::size_t size_bytes_of(const std::remove_reference_t<Range>& range) {
  static_assert(
      !is_literal<Range>,
      "gdrkit: a string literal ends with a zero that would be copied too; pass std::string_view or std::span");
  return std::ranges::size(range) * sizeof(std::ranges::range_value_t<Range>);
}

}  // namespace detail
/// @endcond

}  // namespace gdrkit

#endif
