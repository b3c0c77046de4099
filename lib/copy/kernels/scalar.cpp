// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "scalar": 8-byte accesses only. Supports every architecture, and memory that rejects vector accesses.
#include <cstddef>

#include "copy/word_access.hpp"

namespace gdrkit::copy::copy_kernel::scalar {

void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; line_count != 0; --line_count, to += line_bytes, from += line_bytes) {
    store_word<8>(to, from);
    store_word<8>(to + 8, from + 8);
    store_word<8>(to + 16, from + 16);
    store_word<8>(to + 24, from + 24);
    store_word<8>(to + 32, from + 32);
    store_word<8>(to + 40, from + 40);
    store_word<8>(to + 48, from + 48);
    store_word<8>(to + 56, from + 56);
  }
}

void load_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; line_count != 0; --line_count, to += line_bytes, from += line_bytes) {
    load_word<8>(to, from);
    load_word<8>(to + 8, from + 8);
    load_word<8>(to + 16, from + 16);
    load_word<8>(to + 24, from + 24);
    load_word<8>(to + 32, from + 32);
    load_word<8>(to + 40, from + 40);
    load_word<8>(to + 48, from + 48);
    load_word<8>(to + 56, from + 56);
  }
}

}  // namespace gdrkit::copy::copy_kernel::scalar
