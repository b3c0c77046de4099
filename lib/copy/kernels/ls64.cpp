// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "ls64": ST64B and LD64B of FEAT_LS64, each line one 64-byte access that is never split. Both fault on
// cached memory.
#include <cstddef>
#include <cstdint>

#include "copy/kernel.hpp"

namespace gdrkit::copy::copy_kernel::ls64 {

// As numbers, since many assemblers know no names for them: the eight registers from x0 on, at the address in x8.
#define GDRKIT_ST64B_X0_AT_X8 ".inst 0xf83f9100"
#define GDRKIT_LD64B_X0_AT_X8 ".inst 0xf83fd100"

void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; line_count != 0; --line_count, to += line_bytes, from += line_bytes) {
    std::uint64_t words[8];
    std::memcpy(words, from, sizeof words);
    register std::uint64_t word0 asm("x0") = words[0];
    register std::uint64_t word1 asm("x1") = words[1];
    register std::uint64_t word2 asm("x2") = words[2];
    register std::uint64_t word3 asm("x3") = words[3];
    register std::uint64_t word4 asm("x4") = words[4];
    register std::uint64_t word5 asm("x5") = words[5];
    register std::uint64_t word6 asm("x6") = words[6];
    register std::uint64_t word7 asm("x7") = words[7];
    register char* place asm("x8") = to;
    asm volatile(GDRKIT_ST64B_X0_AT_X8
                 :
                 : "r"(word0), "r"(word1), "r"(word2), "r"(word3), "r"(word4), "r"(word5), "r"(word6), "r"(word7),
                   "r"(place)
                 : "memory");
  }
}

void load_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; line_count != 0; --line_count, to += line_bytes, from += line_bytes) {
    register std::uint64_t word0 asm("x0");
    register std::uint64_t word1 asm("x1");
    register std::uint64_t word2 asm("x2");
    register std::uint64_t word3 asm("x3");
    register std::uint64_t word4 asm("x4");
    register std::uint64_t word5 asm("x5");
    register std::uint64_t word6 asm("x6");
    register std::uint64_t word7 asm("x7");
    register const char* place asm("x8") = from;
    asm volatile(GDRKIT_LD64B_X0_AT_X8
                 : "=r"(word0), "=r"(word1), "=r"(word2), "=r"(word3), "=r"(word4), "=r"(word5), "=r"(word6),
                   "=r"(word7)
                 : "r"(place)
                 : "memory");
    const std::uint64_t words[8] = {word0, word1, word2, word3, word4, word5, word6, word7};
    std::memcpy(to, words, sizeof words);
  }
}

#undef GDRKIT_ST64B_X0_AT_X8
#undef GDRKIT_LD64B_X0_AT_X8

}  // namespace gdrkit::copy::copy_kernel::ls64
