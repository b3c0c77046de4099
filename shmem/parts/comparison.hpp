// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How a word of the own heap compares with a value.
#pragma once

#include <cstdint>

#include "shmem/parts/waits.hpp"

namespace gdrkit::shmem_impl::parts {

template <class Value>
[[nodiscard]] bool compares(Value seen, gdrkit_shmem_comparison comparison, Value wanted) noexcept {
  switch (comparison) {
    case GDRKIT_SHMEM_EQ: return seen == wanted;
    case GDRKIT_SHMEM_NE: return seen != wanted;
    case GDRKIT_SHMEM_GT: return seen > wanted;
    case GDRKIT_SHMEM_LE: return seen <= wanted;
    case GDRKIT_SHMEM_LT: return seen < wanted;
    default: return seen >= wanted;
  }
}

[[nodiscard]] inline std::int64_t as_signed(std::uint64_t value, std::size_t size_bytes) noexcept {
  if (size_bytes == 2) return static_cast<std::int16_t>(value);
  return size_bytes == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

/// `seen`: what the word holds, its bytes above its size 0.
[[nodiscard]] inline bool compares(const Word& word, std::uint64_t seen, gdrkit_shmem_comparison comparison,
                                   std::uint64_t wanted) noexcept {
  if (word.is_signed) {
    return compares(as_signed(seen, word.size_bytes), comparison, as_signed(wanted, word.size_bytes));
  }
  return compares(seen, comparison, wanted & UINT64_MAX >> (64 - 8 * word.size_bytes));
}

}  // namespace gdrkit::shmem_impl::parts
