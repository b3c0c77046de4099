// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "sse2": 16-byte non-temporal stores and ordinary 16-byte loads, for CPUs without streaming loads.
#include <emmintrin.h>

#include <cstddef>

#include "copy/word_access.hpp"

namespace gdrkit::copy::copy_kernel::sse2 {

[[gnu::target("sse2")]] void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<__m128i*>(target);
  const auto* from = static_cast<const __m128i*>(source);
  for (; line_count != 0; --line_count, to += 4, from += 4) {
    const __m128i first = _mm_loadu_si128(from);
    const __m128i second = _mm_loadu_si128(from + 1);
    const __m128i third = _mm_loadu_si128(from + 2);
    const __m128i fourth = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, first);
    _mm_stream_si128(to + 1, second);
    _mm_stream_si128(to + 2, third);
    _mm_stream_si128(to + 3, fourth);
  }
}

// Volatile: the compiler could repeat or narrow an ordinary load, and each load is a round trip to the device.
[[gnu::target("sse2")]] void load_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<__m128i*>(target);
  const auto* from = static_cast<const volatile __m128i*>(source);
  for (; line_count != 0; --line_count, to += 4, from += 4) {
    const __m128i first = from[0];
    const __m128i second = from[1];
    const __m128i third = from[2];
    const __m128i fourth = from[3];
    _mm_storeu_si128(to, first);
    _mm_storeu_si128(to + 1, second);
    _mm_storeu_si128(to + 2, third);
    _mm_storeu_si128(to + 3, fourth);
  }
}

}  // namespace gdrkit::copy::copy_kernel::sse2
