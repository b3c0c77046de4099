// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "avx512_movdir64b": direct stores for few lines, 64-byte non-temporal stores for many. Stores only.
#include <immintrin.h>

#include <cstddef>

#include "copy/word_access.hpp"

namespace gdrkit::copy::copy_kernel {
namespace avx512 {
void store_lines(void* target, const void* source, std::size_t line_count) noexcept;
}
namespace avx512_movdir64b {

// Direct stores are up to 2 % faster up to 4 KiB and up to 20 % slower at 8 KiB (Sapphire Rapids to BAR1 of an H100).
constexpr std::size_t most_direct_lines = 64;

[[gnu::target("movdir64b")]] void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  if (line_count > most_direct_lines) return avx512::store_lines(target, source, line_count);
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; line_count >= 4; line_count -= 4, to += 4 * line_bytes, from += 4 * line_bytes) {
    _movdir64b(to, from);
    _movdir64b(to + line_bytes, from + line_bytes);
    _movdir64b(to + 2 * line_bytes, from + 2 * line_bytes);
    _movdir64b(to + 3 * line_bytes, from + 3 * line_bytes);
  }
  for (; line_count != 0; --line_count, to += line_bytes, from += line_bytes) _movdir64b(to, from);
}

}  // namespace avx512_movdir64b
}  // namespace gdrkit::copy::copy_kernel
