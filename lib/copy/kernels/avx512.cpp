// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "avx512": one 64-byte non-temporal store or streaming load for each line.
#include <immintrin.h>

#include <cstddef>

namespace gdrkit::copy::copy_kernel::avx512 {

[[gnu::target("avx512f")]] void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<__m512i*>(target);
  const auto* from = static_cast<const __m512i*>(source);
  for (; line_count >= 4; line_count -= 4, to += 4, from += 4) {
    const __m512i first = _mm512_loadu_si512(from);
    const __m512i second = _mm512_loadu_si512(from + 1);
    const __m512i third = _mm512_loadu_si512(from + 2);
    const __m512i fourth = _mm512_loadu_si512(from + 3);
    _mm512_stream_si512(to, first);
    _mm512_stream_si512(to + 1, second);
    _mm512_stream_si512(to + 2, third);
    _mm512_stream_si512(to + 3, fourth);
  }
  for (; line_count != 0; --line_count, ++to, ++from) _mm512_stream_si512(to, _mm512_loadu_si512(from));
}

// The loads are independent, so out-of-order execution keeps as many lines in flight as the core has fill buffers, also
// across iterations.
[[gnu::target("avx512f")]] void load_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<__m512i*>(target);
  auto* from = static_cast<__m512i*>(const_cast<void*>(source));  // older headers declare the intrinsic without const
  for (; line_count >= 4; line_count -= 4, to += 4, from += 4) {
    const __m512i first = _mm512_stream_load_si512(from);
    const __m512i second = _mm512_stream_load_si512(from + 1);
    const __m512i third = _mm512_stream_load_si512(from + 2);
    const __m512i fourth = _mm512_stream_load_si512(from + 3);
    _mm512_storeu_si512(to, first);
    _mm512_storeu_si512(to + 1, second);
    _mm512_storeu_si512(to + 2, third);
    _mm512_storeu_si512(to + 3, fourth);
  }
  for (; line_count != 0; --line_count, ++to, ++from) _mm512_storeu_si512(to, _mm512_stream_load_si512(from));
}

}  // namespace gdrkit::copy::copy_kernel::avx512
