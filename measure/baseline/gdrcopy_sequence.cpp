// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GDRCopy's sequence, written from its documented behaviour. It shares no code with the library's copy kernels, so that
// a change of these never changes the baseline that judges them.
#include "measure/baseline/raw_loops.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace gdrkit::measure {

#if defined(__x86_64__)

namespace {

/// Copies a multiple of the width. The device address is aligned to the width.
using Blocks = void (*)(char* target, const char* source, std::size_t bytes) noexcept;

struct Slots {
  Blocks by_16 = nullptr;
  Blocks by_32 = nullptr;  ///< nullptr: 16-byte accesses
  Blocks by_64 = nullptr;  ///< nullptr: 32-byte accesses
};

[[gnu::target("sse4.1")]] void store_by_16(char* target, const char* source, std::size_t bytes) noexcept {
  auto* to = reinterpret_cast<__m128i*>(target);
  const auto* from = reinterpret_cast<const __m128i*>(source);
  for (; bytes >= 64; bytes -= 64, to += 4, from += 4) {
    const __m128i first = _mm_loadu_si128(from);
    const __m128i second = _mm_loadu_si128(from + 1);
    const __m128i third = _mm_loadu_si128(from + 2);
    const __m128i fourth = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, first);
    _mm_stream_si128(to + 1, second);
    _mm_stream_si128(to + 2, third);
    _mm_stream_si128(to + 3, fourth);
  }
  for (; bytes != 0; bytes -= 16, ++to, ++from) _mm_stream_si128(to, _mm_loadu_si128(from));
}

[[gnu::target("sse4.1")]] void load_by_16(char* target, const char* source, std::size_t bytes) noexcept {
  auto* to = reinterpret_cast<__m128i*>(target);
  auto* from = reinterpret_cast<__m128i*>(const_cast<char*>(source));
  for (; bytes >= 64; bytes -= 64, to += 4, from += 4) {
    const __m128i first = _mm_stream_load_si128(from);
    const __m128i second = _mm_stream_load_si128(from + 1);
    const __m128i third = _mm_stream_load_si128(from + 2);
    const __m128i fourth = _mm_stream_load_si128(from + 3);
    _mm_storeu_si128(to, first);
    _mm_storeu_si128(to + 1, second);
    _mm_storeu_si128(to + 2, third);
    _mm_storeu_si128(to + 3, fourth);
  }
  for (; bytes != 0; bytes -= 16, ++to, ++from) _mm_storeu_si128(to, _mm_stream_load_si128(from));
}

[[gnu::target("avx2")]] void store_by_32(char* target, const char* source, std::size_t bytes) noexcept {
  auto* to = reinterpret_cast<__m256i*>(target);
  const auto* from = reinterpret_cast<const __m256i*>(source);
  for (; bytes >= 128; bytes -= 128, to += 4, from += 4) {
    const __m256i first = _mm256_loadu_si256(from);
    const __m256i second = _mm256_loadu_si256(from + 1);
    const __m256i third = _mm256_loadu_si256(from + 2);
    const __m256i fourth = _mm256_loadu_si256(from + 3);
    _mm256_stream_si256(to, first);
    _mm256_stream_si256(to + 1, second);
    _mm256_stream_si256(to + 2, third);
    _mm256_stream_si256(to + 3, fourth);
  }
  for (; bytes != 0; bytes -= 32, ++to, ++from) _mm256_stream_si256(to, _mm256_loadu_si256(from));
}

[[gnu::target("avx2")]] void load_by_32(char* target, const char* source, std::size_t bytes) noexcept {
  auto* to = reinterpret_cast<__m256i*>(target);
  const auto* from = reinterpret_cast<const __m256i*>(source);
  for (; bytes >= 128; bytes -= 128, to += 4, from += 4) {
    const __m256i first = _mm256_stream_load_si256(from);
    const __m256i second = _mm256_stream_load_si256(from + 1);
    const __m256i third = _mm256_stream_load_si256(from + 2);
    const __m256i fourth = _mm256_stream_load_si256(from + 3);
    _mm256_storeu_si256(to, first);
    _mm256_storeu_si256(to + 1, second);
    _mm256_storeu_si256(to + 2, third);
    _mm256_storeu_si256(to + 3, fourth);
  }
  for (; bytes != 0; bytes -= 32, ++to, ++from) _mm256_storeu_si256(to, _mm256_stream_load_si256(from));
}

[[gnu::target("movdir64b")]] void store_by_64(char* target, const char* source, std::size_t bytes) noexcept {
  for (; bytes >= 256; bytes -= 256, target += 256, source += 256) {
    _movdir64b(target, source);
    _movdir64b(target + 64, source + 64);
    _movdir64b(target + 128, source + 128);
    _movdir64b(target + 192, source + 192);
  }
  for (; bytes != 0; bytes -= 64, target += 64, source += 64) _movdir64b(target, source);
}

bool has_movdir64b() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1u << 28)) != 0;
}

const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
const Slots store_slots{store_by_16, has_avx2 ? store_by_32 : nullptr, has_movdir64b() ? store_by_64 : nullptr};
const Slots load_slots{load_by_16, has_avx2 ? load_by_32 : nullptr, nullptr};

std::uintptr_t address_of(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

template <class Word, bool is_store>
void copy_word(char* target, const char* source) noexcept {
  using Aliased [[gnu::may_alias]] = Word;
  Aliased word;
  if constexpr (is_store) {
    std::memcpy(&word, source, sizeof word);
    *reinterpret_cast<volatile Aliased*>(target) = word;
  } else {
    word = *reinterpret_cast<const volatile Aliased*>(source);
    std::memcpy(target, &word, sizeof word);
  }
}

/// Each access has the largest width up to 8 to which the device address is aligned and that fits the rest.
template <bool is_store>
void copy_words(char* target, const char* source, std::size_t bytes) noexcept {
  while (bytes != 0) {
    const std::uintptr_t device = address_of(is_store ? target : source);
    std::size_t width = 8;
    while (width > bytes || device % width != 0) width /= 2;
    switch (width) {
      case 8: copy_word<std::uint64_t, is_store>(target, source); break;
      case 4: copy_word<std::uint32_t, is_store>(target, source); break;
      case 2: copy_word<std::uint16_t, is_store>(target, source); break;
      default: copy_word<std::uint8_t, is_store>(target, source); break;
    }
    target += width;
    source += width;
    bytes -= width;
  }
}

/// Copies whole blocks of `width` with the slot if it exists.
void take_blocks(Blocks slot, std::size_t width, char*& target, const char*& source, std::size_t& bytes) noexcept {
  const std::size_t whole = bytes / width * width;
  if (slot == nullptr || whole == 0) return;
  slot(target, source, whole);
  target += whole;
  source += whole;
  bytes -= whole;
}

template <bool is_store>
[[gnu::always_inline]] inline void copy_staged(const Slots& slots, char* target, const char* source,
                                               std::size_t bytes) noexcept {
  const auto device = [&] { return address_of(is_store ? target : source); };
  const auto advance = [&](std::size_t done) {
    target += done;
    source += done;
    bytes -= done;
  };
  if (bytes < 16) return copy_words<is_store>(target, source, bytes);
  if (const std::size_t head = (16 - device() % 16) % 16; head != 0) {
    copy_words<is_store>(target, source, head);
    advance(head);
  }
  if (device() % 32 != 0 && bytes >= 16) {
    slots.by_16(target, source, 16);
    advance(16);
  }
  if (device() % 64 != 0 && bytes >= 32 && slots.by_32 != nullptr) {
    slots.by_32(target, source, 32);
    advance(32);
  }
  take_blocks(slots.by_64, 64, target, source, bytes);
  take_blocks(slots.by_32, 32, target, source, bytes);
  take_blocks(slots.by_16, 16, target, source, bytes);
  copy_words<is_store>(target, source, bytes);
}

}  // namespace

bool gdrcopy_sequence_runs_here() noexcept { return __builtin_cpu_supports("sse4.1") != 0; }

void gdrcopy_store(void* device, const void* host, std::size_t size) noexcept {
  copy_staged<true>(store_slots, static_cast<char*>(device), static_cast<const char*>(host), size);
  _mm_sfence();
}

void gdrcopy_load(void* host, const void* device, std::size_t size) noexcept {
  copy_staged<false>(load_slots, static_cast<char*>(host), static_cast<const char*>(device), size);
  _mm_sfence();
}

#else

bool gdrcopy_sequence_runs_here() noexcept { return false; }
void gdrcopy_store(void*, const void*, std::size_t) noexcept {}
void gdrcopy_load(void*, const void*, std::size_t) noexcept {}

#endif

}  // namespace gdrkit::measure
