// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "sse41": 16-byte streaming loads, and the stores of "sse2".
#include <smmintrin.h>

#include <cstddef>

namespace gdrkit::copy::copy_kernel::sse41 {

// The four loads of a line are adjacent: the first fetches the line, and the others read their part of the same fetch.
[[gnu::target("sse4.1")]] void load_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<__m128i*>(target);
  auto* from = static_cast<__m128i*>(const_cast<void*>(source));  // older headers declare the intrinsic without const
  for (; line_count != 0; --line_count, to += 4, from += 4) {
    const __m128i first = _mm_stream_load_si128(from);
    const __m128i second = _mm_stream_load_si128(from + 1);
    const __m128i third = _mm_stream_load_si128(from + 2);
    const __m128i fourth = _mm_stream_load_si128(from + 3);
    _mm_storeu_si128(to, first);
    _mm_storeu_si128(to + 1, second);
    _mm_storeu_si128(to + 2, third);
    _mm_storeu_si128(to + 3, fourth);
  }
}

}  // namespace gdrkit::copy::copy_kernel::sse41
