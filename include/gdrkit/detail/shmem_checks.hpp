// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Checks of results and of element types for gdrkit/shmem.hpp. Not API.
#ifndef GDRKIT_DETAIL_SHMEM_CHECKS_HPP
#define GDRKIT_DETAIL_SHMEM_CHECKS_HPP

#include <gdrkit/shmem_job.h>
#include <gdrkit/error.hpp>

#include <cstddef>
#include <ranges>
#include <type_traits>

namespace gdrkit::shmem::hpp_detail {

inline int check(int result) {
  if (result < 0) throw Error(-result, gdrkit_shmem_last_error());
  return result;
}

template <class T>
constexpr bool check_element() {
  static_assert(!std::is_pointer_v<T> && !std::is_member_pointer_v<T>,
                "elements must not be pointers: a pointer is invalid in another process");
  static_assert(std::is_trivially_copyable_v<T>, "elements must be trivially copyable: they are copied byte by byte");
  return true;
}

template <class Range>
concept ContiguousRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;

/// Arrays of constant characters: string literals.
template <class Range>
inline constexpr bool is_literal = false;
template <class Character, std::size_t size>
inline constexpr bool is_literal<const Character (&)[size]> = std::is_same_v<Character, char>;

/// `Range` as deduced for a forwarding reference.
template <class T, class Range>
constexpr bool check_source() {
  static_assert(!std::is_const_v<T>, "cannot write to a symmetric span of const elements");
  static_assert(!is_literal<Range>, "a string literal includes its terminating zero: pass a std::string_view");
  static_assert(std::is_same_v<std::ranges::range_value_t<Range>, T>,
                "the elements of the source and of the symmetric span must have the same type");
  return true;
}
template <class T, class Range>
constexpr bool check_target() {
  static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>,
                "cannot write to a target of const elements");
  static_assert(std::ranges::borrowed_range<Range>, "the target is a temporary object: its contents would be lost");
  static_assert(std::is_same_v<std::ranges::range_value_t<Range>, std::remove_const_t<T>>,
                "the elements of the target and of the symmetric span must have the same type");
  return true;
}

}  // namespace gdrkit::shmem::hpp_detail

#endif
