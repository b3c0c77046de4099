// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/line_reader.hpp"

#include "cpu/ordering.hpp"

#if defined(__x86_64__)
#include <smmintrin.h>

#include "cpu/features.hpp"
#endif

namespace gdrkit::backend {
namespace {

void read_bytes(std::uint8_t* target, const volatile std::uint8_t* source, std::size_t width) noexcept {
  std::size_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(source) % 8 == 0) {
    for (; done + 8 <= width; done += 8) {
      const std::uint64_t word = *reinterpret_cast<const volatile std::uint64_t*>(source + done);
      __builtin_memcpy(target + done, &word, sizeof word);
    }
  }
  for (; done < width; ++done) target[done] = source[done];
}

#if defined(__x86_64__)
// The fence makes the loads that follow fetch anew: a line left in a streaming-load buffer by an earlier read may be
// older than what the device holds now (Intel SDM, MOVNTDQA).
[[gnu::target("sse4.1")]] void read_lines(std::uint8_t* target, const volatile std::uint8_t* first, std::size_t pitch,
                                          std::size_t rows) noexcept {
  _mm_mfence();
  for (std::size_t row = 0; row < rows; ++row) {
    auto* source = reinterpret_cast<__m128i*>(const_cast<std::uint8_t*>(first + row * pitch));
    auto* line = reinterpret_cast<__m128i*>(target + row * 64);
    const __m128i a = _mm_stream_load_si128(source);
    const __m128i b = _mm_stream_load_si128(source + 1);
    const __m128i c = _mm_stream_load_si128(source + 2);
    const __m128i d = _mm_stream_load_si128(source + 3);
    _mm_storeu_si128(line, a);
    _mm_storeu_si128(line + 1, b);
    _mm_storeu_si128(line + 2, c);
    _mm_storeu_si128(line + 3, d);
  }
  _mm_lfence();
}
#endif

}  // namespace

void read_rows(std::uint8_t* target, const volatile std::uint8_t* first, std::size_t pitch, std::size_t width,
               std::size_t rows) noexcept {
#if defined(__x86_64__)
  static const bool has_streaming_loads = cpu::detect().sse41;
  const bool is_aligned = (reinterpret_cast<std::uintptr_t>(first) | pitch) % 64 == 0;
  if (has_streaming_loads && width == 64 && is_aligned) return read_lines(target, first, pitch, rows);
#endif
  // These loads see what CUDA wrote before it reported completion.
  cpu::order_before_loads();
  for (std::size_t row = 0; row < rows; ++row) read_bytes(target + row * width, first + row * pitch, width);
}

}  // namespace gdrkit::backend
