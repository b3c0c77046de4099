// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "neon": copies each line with two pairs of 16-byte registers.
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "copy/word_access.hpp"

namespace gdrkit::copy::copy_kernel::neon {

// The device accesses are inline assembly, so the compiler does not split, repeat or reorder them. The two stores of a
// line are adjacent and gather into one write.
void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const std::uint8_t*>(source);
  for (; line_count != 0; --line_count, to += line_bytes, from += line_bytes) {
    const uint8x16_t first = vld1q_u8(from);
    const uint8x16_t second = vld1q_u8(from + 16);
    const uint8x16_t third = vld1q_u8(from + 32);
    const uint8x16_t fourth = vld1q_u8(from + 48);
    asm volatile(
        "stp %q[first], %q[second], [%[to]]\n\t"
        "stp %q[third], %q[fourth], [%[to], #32]"
        :
        : [first] "w"(first), [second] "w"(second), [third] "w"(third), [fourth] "w"(fourth), [to] "r"(to)
        : "memory");
  }
}

void load_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<std::uint8_t*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; line_count != 0; --line_count, to += line_bytes, from += line_bytes) {
    uint8x16_t first;
    uint8x16_t second;
    uint8x16_t third;
    uint8x16_t fourth;
    asm volatile(
        "ldp %q[first], %q[second], [%[from]]\n\t"
        "ldp %q[third], %q[fourth], [%[from], #32]"
        : [first] "=&w"(first), [second] "=&w"(second), [third] "=w"(third), [fourth] "=w"(fourth)
        : [from] "r"(from)
        : "memory");
    vst1q_u8(to, first);
    vst1q_u8(to + 16, second);
    vst1q_u8(to + 32, third);
    vst1q_u8(to + 48, fourth);
  }
}

}  // namespace gdrkit::copy::copy_kernel::neon
