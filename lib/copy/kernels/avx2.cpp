// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "avx2": 32-byte non-temporal stores and 32-byte streaming loads.
#include <immintrin.h>

#include <cstddef>

namespace gdrkit::copy::copy_kernel::avx2 {

[[gnu::target("avx2")]] void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<__m256i*>(target);
  const auto* from = static_cast<const __m256i*>(source);
  for (; line_count >= 2; line_count -= 2, to += 4, from += 4) {
    const __m256i first = _mm256_loadu_si256(from);
    const __m256i second = _mm256_loadu_si256(from + 1);
    const __m256i third = _mm256_loadu_si256(from + 2);
    const __m256i fourth = _mm256_loadu_si256(from + 3);
    _mm256_stream_si256(to, first);
    _mm256_stream_si256(to + 1, second);
    _mm256_stream_si256(to + 2, third);
    _mm256_stream_si256(to + 3, fourth);
  }
  if (line_count != 0) {
    const __m256i first = _mm256_loadu_si256(from);
    const __m256i second = _mm256_loadu_si256(from + 1);
    _mm256_stream_si256(to, first);
    _mm256_stream_si256(to + 1, second);
  }
}

// Both loads of a line are adjacent: the first fetches the line, and the second reads its half of the same fetch.
[[gnu::target("avx2")]] void load_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<__m256i*>(target);
  const auto* from = static_cast<const __m256i*>(source);
  for (; line_count >= 2; line_count -= 2, to += 4, from += 4) {
    const __m256i first = _mm256_stream_load_si256(from);
    const __m256i second = _mm256_stream_load_si256(from + 1);
    const __m256i third = _mm256_stream_load_si256(from + 2);
    const __m256i fourth = _mm256_stream_load_si256(from + 3);
    _mm256_storeu_si256(to, first);
    _mm256_storeu_si256(to + 1, second);
    _mm256_storeu_si256(to + 2, third);
    _mm256_storeu_si256(to + 3, fourth);
  }
  if (line_count != 0) {
    const __m256i first = _mm256_stream_load_si256(from);
    const __m256i second = _mm256_stream_load_si256(from + 1);
    _mm256_storeu_si256(to, first);
    _mm256_storeu_si256(to + 1, second);
  }
}

}  // namespace gdrkit::copy::copy_kernel::avx2
