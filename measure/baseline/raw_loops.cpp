// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Store and load loops, one function for each kind and size class. They share no code with the library's copy kernels.
#include "measure/baseline/raw_loops.hpp"

#include <cstdint>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdrkit::measure {

const char* raw_kind_name(RawKind kind) noexcept {
  switch (kind) {
    case RawKind::avx512: return "avx512";
    case RawKind::avx2: return "avx2";
    case RawKind::sse41: return "sse41";
    case RawKind::gdrcopy: return "gdrcopy";
  }
  return "";
}

bool widest_raw_kind(RawKind* kind) noexcept {
  for (const RawKind candidate : {RawKind::avx512, RawKind::avx2, RawKind::sse41}) {
    if (!raw_runs_here(candidate)) continue;
    *kind = candidate;
    return true;
  }
  return false;
}

#if defined(__x86_64__)

namespace {

using Loop = void (*)(char* target, const char* source, std::size_t bytes, std::size_t iterations) noexcept;

constexpr std::size_t run_time_bytes = 0;  ///< size known only at run time, a multiple of group_bytes
constexpr std::size_t group_bytes = 512;

/// 1 to 8 bytes: one access of that size.
template <class Integer>
struct Words {
  using Word [[gnu::may_alias]] = Integer;
  static void store(char* target, const char* source, std::size_t, std::size_t iterations) noexcept {
    for (; iterations != 0; --iterations) {
      Word word;
      std::memcpy(&word, source, sizeof word);
      *reinterpret_cast<volatile Word*>(target) = word;
      _mm_sfence();
    }
  }
  static void load(char* target, const char* source, std::size_t, std::size_t iterations) noexcept {
    for (; iterations != 0; --iterations) {
      _mm_lfence();  // sufficient for ordinary loads: only streaming loads can read a stale buffer
      const Word word = *reinterpret_cast<const volatile Word*>(source);
      std::memcpy(target, &word, sizeof word);
      _mm_lfence();
    }
  }
};

// The loops of one kind, based on its put() and get() of `width` bytes. A size known at compile time is unrolled
// completely, otherwise groups of 512 bytes are. A macro, because the target attribute applies only to code inside the
// function.
#define GDRKIT_RAW_LOOPS(isa)                                                                   \
  template <std::size_t fixed_bytes>                                                            \
  [[gnu::target(isa)]] static void store(char* target, const char* source, std::size_t bytes,   \
                                         std::size_t iterations) noexcept {                     \
    constexpr std::size_t group = fixed_bytes != run_time_bytes ? fixed_bytes : group_bytes;    \
    const std::size_t size = fixed_bytes != run_time_bytes ? fixed_bytes : bytes;               \
    for (; iterations != 0; --iterations) {                                                     \
      std::size_t start = 0;                                                                    \
      do {                                                                                      \
        _Pragma("GCC unroll 32") for (std::size_t at = start; at != start + group; at += width) \
            put(target + at, source + at);                                                      \
        start += group;                                                                         \
      } while (start != size);                                                                  \
      _mm_sfence();                                                                             \
    }                                                                                           \
  }                                                                                             \
  template <std::size_t fixed_bytes>                                                            \
  [[gnu::target(isa)]] static void load(char* target, const char* source, std::size_t bytes,    \
                                        std::size_t iterations) noexcept {                      \
    constexpr std::size_t group = fixed_bytes != run_time_bytes ? fixed_bytes : group_bytes;    \
    const std::size_t size = fixed_bytes != run_time_bytes ? fixed_bytes : bytes;               \
    for (; iterations != 0; --iterations) {                                                     \
      _mm_mfence();                                                                             \
      std::size_t start = 0;                                                                    \
      do {                                                                                      \
        _Pragma("GCC unroll 32") for (std::size_t at = start; at != start + group; at += width) \
            get(target + at, source + at);                                                      \
        start += group;                                                                         \
      } while (start != size);                                                                  \
      _mm_lfence();                                                                             \
    }                                                                                           \
  }

struct Sse41 {
  static constexpr std::size_t width = 16;
  [[gnu::target("sse4.1"), gnu::always_inline]] static inline void put(char* to, const char* from) noexcept {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  [[gnu::target("sse4.1"), gnu::always_inline]] static inline void get(char* to, const char* from) noexcept {
    auto* device = reinterpret_cast<__m128i*>(const_cast<char*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_stream_load_si128(device));
  }
  GDRKIT_RAW_LOOPS("sse4.1")
};

struct Avx2 {
  using Narrower = Sse41;
  static constexpr std::size_t width = 32;
  [[gnu::target("avx2"), gnu::always_inline]] static inline void put(char* to, const char* from) noexcept {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  [[gnu::target("avx2"), gnu::always_inline]] static inline void get(char* to, const char* from) noexcept {
    const auto* device = reinterpret_cast<const __m256i*>(from);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_stream_load_si256(device));
  }
  GDRKIT_RAW_LOOPS("avx2")
};

struct Avx512 {
  using Narrower = Avx2;
  static constexpr std::size_t width = 64;
  [[gnu::target("avx512f"), gnu::always_inline]] static inline void put(char* to, const char* from) noexcept {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
  [[gnu::target("avx512f"), gnu::always_inline]] static inline void get(char* to, const char* from) noexcept {
    _mm512_storeu_si512(to, _mm512_stream_load_si512(const_cast<char*>(from)));
  }
  GDRKIT_RAW_LOOPS("avx512f")
};
#undef GDRKIT_RAW_LOOPS

struct Loops {
  Loop store;
  Loop load;
};

template <class Kind, std::size_t fixed_bytes>
constexpr Loops loops_of{Kind::template store<fixed_bytes>, Kind::template load<fixed_bytes>};

/// The widest accesses that fit `size`, a power of two.
template <class Kind>
Loops loops_for(std::size_t size) noexcept {
  if constexpr (Kind::width > 16) {
    if (size < Kind::width) return loops_for<typename Kind::Narrower>(size);
  }
  switch (size) {
    case 1: return {Words<std::uint8_t>::store, Words<std::uint8_t>::load};
    case 2: return {Words<std::uint16_t>::store, Words<std::uint16_t>::load};
    case 4: return {Words<std::uint32_t>::store, Words<std::uint32_t>::load};
    case 8: return {Words<std::uint64_t>::store, Words<std::uint64_t>::load};
    case Kind::width: return loops_of<Kind, Kind::width>;
    case 2 * Kind::width: return loops_of<Kind, 2 * Kind::width>;
    case 4 * Kind::width: return loops_of<Kind, 4 * Kind::width>;
    case 8 * Kind::width: return loops_of<Kind, 8 * Kind::width>;
    case 16 * Kind::width: return loops_of<Kind, 16 * Kind::width>;
    default: return loops_of<Kind, run_time_bytes>;
  }
}

bool is_measurable(RawKind kind, const void* device, std::size_t size) noexcept {
  if (!raw_runs_here(kind) || size == 0 || (size & (size - 1)) != 0) return false;
  const std::size_t alignment = size < 64 ? size : 64;
  return reinterpret_cast<std::uintptr_t>(device) % alignment == 0;
}

void store_as_gdrcopy(char* target, const char* source, std::size_t bytes, std::size_t iterations) noexcept {
  for (; iterations != 0; --iterations) gdrcopy_store(target, source, bytes);
}

void load_as_gdrcopy(char* target, const char* source, std::size_t bytes, std::size_t iterations) noexcept {
  for (; iterations != 0; --iterations) gdrcopy_load(target, source, bytes);
}

Loops select(RawKind kind, std::size_t size) noexcept {
  if (kind == RawKind::gdrcopy) return {store_as_gdrcopy, load_as_gdrcopy};
  if (kind == RawKind::avx512) return loops_for<Avx512>(size);
  if (kind == RawKind::avx2) return loops_for<Avx2>(size);
  return loops_for<Sse41>(size);
}

}  // namespace

bool raw_runs_here(RawKind kind) noexcept {
  if (kind == RawKind::avx512) return __builtin_cpu_supports("avx512f") != 0;
  if (kind == RawKind::avx2) return __builtin_cpu_supports("avx2") != 0;
  if (kind == RawKind::gdrcopy) return gdrcopy_sequence_runs_here();
  return __builtin_cpu_supports("sse4.1") != 0;
}

bool raw_store(RawKind kind, void* device, const void* host, std::size_t size, std::size_t iterations) noexcept {
  if (!is_measurable(kind, device, size)) return false;
  select(kind, size).store(static_cast<char*>(device), static_cast<const char*>(host), size, iterations);
  return true;
}

bool raw_load(RawKind kind, void* host, const void* device, std::size_t size, std::size_t iterations) noexcept {
  if (!is_measurable(kind, device, size)) return false;
  select(kind, size).load(static_cast<char*>(host), static_cast<const char*>(device), size, iterations);
  return true;
}

#else

bool raw_runs_here(RawKind) noexcept { return false; }
bool raw_store(RawKind, void*, const void*, std::size_t, std::size_t) noexcept { return false; }
bool raw_load(RawKind, void*, const void*, std::size_t, std::size_t) noexcept { return false; }

#endif

}  // namespace gdrkit::measure
