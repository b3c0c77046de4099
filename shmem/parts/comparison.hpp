// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How a word of this PE's heap compares with a value.
#pragma once

#include <gdrkit/detail/shmem_access.cuh>

#include <cstdint>

#include "shmem/parts/waits.hpp"

namespace gdrkit::shmem_impl::parts {

[[nodiscard]] inline std::int64_t as_signed(std::uint64_t value, std::size_t size_bytes) noexcept {
  if (size_bytes == 2) return static_cast<std::int16_t>(value);
  return size_bytes == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

/// `seen`: what the word holds, its bytes above its size 0.
[[nodiscard]] inline bool compares(const Word& word, std::uint64_t seen, gdrkit_shmem_comparison comparison,
                                   std::uint64_t wanted) noexcept {
  if (word.is_signed) {
    return shmem::detail::compares(as_signed(seen, word.size_bytes), comparison, as_signed(wanted, word.size_bytes));
  }
  return shmem::detail::compares(seen, comparison, wanted & UINT64_MAX >> (64 - 8 * word.size_bytes));
}

}  // namespace gdrkit::shmem_impl::parts
