// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "candidates.hpp"

#include <cpuid.h>
#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "measure/baseline/gdrcopy_sequence.hpp"

namespace gdrkit::tests {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t page = 4096;

enum class Fence { none, lfence, sfence, mfence };

template <Fence fence>
[[gnu::always_inline]] inline void execute() noexcept {
  if constexpr (fence == Fence::lfence) _mm_lfence();
  if constexpr (fence == Fence::sfence) _mm_sfence();
  if constexpr (fence == Fence::mfence) _mm_mfence();
}

template <class Word>
[[gnu::always_inline]] inline void move(void* target, const void* source) noexcept {
  using Aliased [[gnu::may_alias]] = Word;
  const Aliased word = *static_cast<const volatile Aliased*>(source);
  *static_cast<volatile Aliased*>(target) = word;
}

[[gnu::always_inline]] inline void move_word(void* target, const void* source, std::size_t size) noexcept {
  switch (size) {
    case 8: return move<std::uint64_t>(target, source);
    case 4: return move<std::uint32_t>(target, source);
    case 2: return move<std::uint16_t>(target, source);
    default: return move<std::uint8_t>(target, source);
  }
}

// Loads.

enum class Load { plain, streaming, streaming_by_32 };

#define TARGET [[gnu::target("avx512f,avx2,movdir64b")]]

template <Load kind>
TARGET [[gnu::always_inline]] inline void load_line(char* to, const char* from) noexcept {
  if constexpr (kind == Load::plain) {
    _mm512_storeu_si512(to, *reinterpret_cast<const volatile __m512i*>(from));
  } else if constexpr (kind == Load::streaming) {
    _mm512_storeu_si512(to, _mm512_stream_load_si512(const_cast<char*>(from)));
  } else {
    const __m256i low = _mm256_stream_load_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i high = _mm256_stream_load_si256(reinterpret_cast<const __m256i*>(from) + 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  }
}

template <Load kind>
TARGET [[gnu::always_inline]] inline void load_lines(char* to, const char* from, std::size_t size) noexcept {
  for (; size >= 4 * line; size -= 4 * line, to += 4 * line, from += 4 * line) {
    load_line<kind>(to, from);
    load_line<kind>(to + line, from + line);
    load_line<kind>(to + 2 * line, from + 2 * line);
    load_line<kind>(to + 3 * line, from + 3 * line);
  }
  for (; size != 0; size -= line, to += line, from += line) load_line<kind>(to, from);
}

/// Up to one line: one plain load. `before_short` precedes it, `before` precedes the loads of several lines.
template <Fence before_short, Fence before, Load kind, Fence after_short, Fence after>
TARGET void load(void* target, const void* source, std::size_t size) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  if (size > line) {
    execute<before>();
    load_lines<kind>(to, from, size);
    return execute<after>();
  }
  execute<before_short>();
  switch (size) {
    case 64: load_line<Load::plain>(to, from); break;
    case 32:
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), *reinterpret_cast<const volatile __m256i*>(from));
      break;
    case 16: _mm_storeu_si128(reinterpret_cast<__m128i*>(to), *reinterpret_cast<const volatile __m128i*>(from)); break;
    default: move_word(to, from, size);
  }
  execute<after_short>();
}

// Stores.

enum class Store { words, plain, streaming, direct };

template <Store kind>
TARGET [[gnu::always_inline]] inline void store_line(char* to, const char* from) noexcept {
  if constexpr (kind == Store::direct) {
    _movdir64b(to, from);
  } else if constexpr (kind == Store::plain) {
    *reinterpret_cast<volatile __m512i*>(to) = _mm512_loadu_si512(from);
  } else {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
}

/// `ahead`: the source is prefetched that many bytes in advance. `touches_pages`: also one line of the next page of the
/// device, only to load its translation.
template <Store kind, std::size_t ahead = 0, bool touches_pages = false>
TARGET [[gnu::always_inline]] inline void store_lines(char* to, const char* from, std::size_t size) noexcept {
  for (; size >= 4 * line; size -= 4 * line, to += 4 * line, from += 4 * line) {
    if constexpr (ahead != 0) {
      _mm_prefetch(from + ahead, _MM_HINT_T0);
      _mm_prefetch(from + ahead + line, _MM_HINT_T0);
      _mm_prefetch(from + ahead + 2 * line, _MM_HINT_T0);
      _mm_prefetch(from + ahead + 3 * line, _MM_HINT_T0);
    }
    if constexpr (touches_pages) {
      if (reinterpret_cast<std::uintptr_t>(to) % page == 0) _mm_prefetch(to + page, _MM_HINT_T0);
    }
    if constexpr (kind == Store::streaming) {
      const __m512i first = _mm512_loadu_si512(from);
      const __m512i second = _mm512_loadu_si512(from + line);
      const __m512i third = _mm512_loadu_si512(from + 2 * line);
      const __m512i fourth = _mm512_loadu_si512(from + 3 * line);
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to), first);
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + line), second);
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 2 * line), third);
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 3 * line), fourth);
    } else {
      store_line<kind>(to, from);
      store_line<kind>(to + line, from + line);
      store_line<kind>(to + 2 * line, from + 2 * line);
      store_line<kind>(to + 3 * line, from + 3 * line);
    }
  }
  for (; size != 0; size -= line, to += line, from += line) store_line<kind>(to, from);
}

/// Up to 32 bytes with `narrow` accesses, from 64 bytes on with `wide` ones.
template <Store narrow, Store wide, std::size_t ahead = 0, bool touches_pages = false>
TARGET void store(void* target, const void* source, std::size_t size) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  if (size >= line) {
    store_lines<wide, ahead, touches_pages>(to, from, size);
  } else if (size <= 8) {
    move_word(to, from, size);
  } else if constexpr (narrow == Store::words) {
    for (std::size_t at = 0; at < size; at += 8) move<std::uint64_t>(to + at, from + at);
  } else if (size == 16) {
    const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if constexpr (narrow == Store::plain) {
      *reinterpret_cast<volatile __m128i*>(to) = value;
    } else {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to), value);
    }
  } else {
    const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    if constexpr (narrow == Store::plain) {
      *reinterpret_cast<volatile __m256i*>(to) = value;
    } else {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
    }
  }
  _mm_sfence();
}

/// Page by page: first prefetches the whole next page of the source, then stores the current one.
TARGET void store_by_pages(void* target, const void* source, std::size_t size) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; size >= page; size -= page, to += page, from += page) {
    if (size >= 2 * page) {
      for (std::size_t at = 0; at < page; at += line) _mm_prefetch(from + page + at, _MM_HINT_T1);
      _mm_prefetch(to + page, _MM_HINT_T0);
    }
    store_lines<Store::streaming>(to, from, page);
  }
  store_lines<Store::streaming>(to, from, size);
  _mm_sfence();
}

/// Loads the translations of the next 16 pages of both sides, then stores these pages.
TARGET void store_with_translations(void* target, const void* source, std::size_t size) noexcept {
  constexpr std::size_t block = 16 * page;
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  for (std::size_t done = 0; done < size; done += block) {
    const std::size_t bytes = size - done < block ? size - done : block;
    for (std::size_t at = 0; at < bytes; at += page) {
      _mm_prefetch(to + done + at, _MM_HINT_T0);
      _mm_prefetch(from + done + at, _MM_HINT_T0);
    }
    store_lines<Store::streaming>(to + done, from + done, bytes);
  }
  _mm_sfence();
}

bool has_leaf7(unsigned ebx_bits, unsigned ecx_bits) noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & ebx_bits) == ebx_bits &&
         (ecx & ecx_bits) == ecx_bits;
}

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t any = 16 * mib;
constexpr Direction from = Direction::from_device;
constexpr Direction to = Direction::to_device;
using F = Fence;
using L = Load;
using S = Store;

constexpr Candidate loads[] = {
    {"gdrcopy", from, 1, any, measure::gdrcopy_load},
    {"library ordered", from, 1, any, nullptr, copy::ReadOrder::ordered},
    {"library as_gdrcopy", from, 1, any, nullptr, copy::ReadOrder::as_gdrcopy},
    {"plain|lines: SFENCE", from, 1, 4096, load<F::none, F::none, L::plain, F::sfence, F::sfence>},
    {"L plain L|M stream", from, 1, any, load<F::lfence, F::mfence, L::streaming, F::lfence, F::none>},
    {"L plain SF|", from, 1, 64, load<F::lfence, F::mfence, L::streaming, F::sfence, F::none>},
    {"plain|", from, 1, 64, load<F::none, F::none, L::streaming, F::none, F::none>},
    {"M stream SF", from, 128, any, load<F::none, F::mfence, L::streaming, F::sfence, F::sfence>},
    {"M stream32 SF", from, 128, any, load<F::none, F::mfence, L::streaming_by_32, F::sfence, F::sfence>},
    {"M stream", from, 128, any, load<F::none, F::mfence, L::streaming, F::sfence, F::none>},
    {"L stream M", from, 128, any, load<F::none, F::lfence, L::streaming, F::sfence, F::mfence>},
    {"stream M", from, 128, any, load<F::none, F::none, L::streaming, F::sfence, F::mfence>},
    {"stream SF", from, 128, any, load<F::none, F::none, L::streaming, F::sfence, F::sfence>},
};

constexpr Candidate stores[] = {
    {"gdrcopy", to, 1, any, measure::gdrcopy_store},
    {"library", to, 1, any, nullptr},
    {"words|direct", to, 1, any, store<S::words, S::direct>},
    {"nt|nt", to, 16, any, store<S::streaming, S::streaming>},
    {"plain|plain", to, 16, any, store<S::plain, S::plain>},
    {"nt ahead 512", to, 8192, any, store<S::streaming, S::streaming, 512>},
    {"nt ahead 1K", to, 8192, any, store<S::streaming, S::streaming, 1024>},
    {"nt ahead 2K", to, 8192, any, store<S::streaming, S::streaming, 2048>},
    {"nt ahead 4K", to, 8192, any, store<S::streaming, S::streaming, 4096>},
    {"nt ahead 1K+page", to, 8192, any, store<S::streaming, S::streaming, 1024, true>},
    {"nt page", to, 8192, any, store<S::streaming, S::streaming, 0, true>},
    {"nt by pages", to, 8192, any, store_by_pages},
    {"nt translations", to, 8192, any, store_with_translations},
    {"direct ahead 1K", to, 8192, any, store<S::words, S::direct, 1024>},
};

}  // namespace

std::span<const Candidate> candidates() {
  static const std::vector<Candidate> usable = [] {
    std::vector<Candidate> chosen;
    const bool has_avx512 = has_leaf7(1u << 16, 0);         // AVX512F
    const bool has_direct = has_leaf7(1u << 16, 1u << 28);  // and MOVDIR64B
    const auto take = [&](const Candidate& candidate) {
      const bool is_independent = std::strcmp(candidate.name, "gdrcopy") == 0 || candidate.run == nullptr;
      const bool is_direct = std::strstr(candidate.name, "direct") != nullptr;
      if (is_independent || (is_direct ? has_direct : has_avx512)) chosen.push_back(candidate);
    };
    for (const Candidate& candidate : loads) take(candidate);
    for (const Candidate& candidate : stores) take(candidate);
    return chosen;
  }();
  return usable;
}

}  // namespace gdrkit::tests
