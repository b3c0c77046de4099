// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The tests' own loads and stores through a mapping of device memory, independent of the copy kernels.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdrkit::tests {

/// Orders all earlier accesses before all later ones, including write-combining and streaming accesses.
inline void order_device_accesses() {
#if defined(__x86_64__)
  _mm_mfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
  __sync_synchronize();
#endif
}

/// Writes each device byte once, naturally aligned. On return the stores may still be in flight to the device.
inline void store_to_mapping(void* mapping, const std::vector<std::uint8_t>& source) {
  auto* target = static_cast<volatile std::uint8_t*>(mapping);
  std::size_t at = 0;
  while (at < source.size()) {
    if (reinterpret_cast<std::uintptr_t>(target + at) % 8 == 0 && source.size() - at >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, source.data() + at, sizeof word);
      *reinterpret_cast<volatile std::uint64_t*>(target + at) = word;
      at += sizeof word;
    } else {
      target[at] = source[at];
      ++at;
    }
  }
  order_device_accesses();
}

#if defined(__x86_64__)
/// Loads whole aligned 64-byte lines by streaming loads, which avoid one bus transaction per load.
[[gnu::target("sse4.1")]] inline std::size_t load_lines(std::uint8_t* target, void* source, std::size_t size) {
  std::size_t at = 0;
  for (; size - at >= 64; at += 64) {
    for (std::size_t part = at; part < at + 64; part += 16) {
      const __m128i value =
          _mm_stream_load_si128(reinterpret_cast<__m128i*>(static_cast<std::uint8_t*>(source) + part));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(target + part), value);
    }
  }
  return at;
}
#endif

/// Returns the contents of the device memory behind the mapping.
[[nodiscard]] inline std::vector<std::uint8_t> load_from_mapping(const void* mapping, std::size_t size) {
  std::vector<std::uint8_t> target(size);
  const auto* source = static_cast<const volatile std::uint8_t*>(mapping);
  order_device_accesses();
  std::size_t at = 0;
  while (at < size) {
    const auto place = reinterpret_cast<std::uintptr_t>(source + at);
#if defined(__x86_64__)
    if (place % 64 == 0 && size - at >= 64 && __builtin_cpu_supports("sse4.1")) {
      at += load_lines(target.data() + at, reinterpret_cast<void*>(place), size - at);
      continue;
    }
#endif
    if (place % 8 == 0 && size - at >= 8) {
      const std::uint64_t word = *reinterpret_cast<const volatile std::uint64_t*>(source + at);
      std::memcpy(target.data() + at, &word, sizeof word);
      at += sizeof word;
    } else {
      target[at] = source[at];
      ++at;
    }
  }
  order_device_accesses();
  return target;
}

/// Returns aperiodic bytes that depend on `seed` (splitmix64).
[[nodiscard]] inline std::vector<std::uint8_t> make_pattern(std::size_t size, std::uint64_t seed) {
  std::vector<std::uint8_t> pattern(size);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL;
  for (std::size_t at = 0; at < size; at += 8) {
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    word ^= word >> 31;
    std::memcpy(pattern.data() + at, &word, size - at < 8 ? size - at : 8);
  }
  return pattern;
}

/// Returns the offset of the first difference of two equally long byte strings, or their length. Failure messages
/// contain this offset instead of both strings.
[[nodiscard]] inline std::size_t first_difference(const std::vector<std::uint8_t>& left,
                                                  const std::vector<std::uint8_t>& right) {
  if (left == right) return left.size();
  std::size_t at = 0;
  while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
  return at;
}

}  // namespace gdrkit::tests
