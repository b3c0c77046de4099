// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Decodes CPUID leaves 1 and 7 and XCR0, or the auxiliary vector, into Features.
#include "cpu/features.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) || defined(__powerpc64__)
#include <sys/auxv.h>
#endif

namespace gdrkit::cpu {
namespace {

constexpr std::uint32_t leaf1_ecx_sse41 = 1u << 19;
constexpr std::uint32_t leaf1_ecx_osxsave = 1u << 27;
constexpr std::uint32_t leaf1_ecx_avx = 1u << 28;
constexpr std::uint32_t leaf1_edx_sse2 = 1u << 26;
constexpr std::uint32_t leaf7_ebx_avx2 = 1u << 5;
constexpr std::uint32_t leaf7_ebx_avx512f = 1u << 16;
constexpr std::uint32_t leaf7_ecx_movdir64b = 1u << 28;

// State components in XCR0. All must be set, because the operating system saves only components that are set.
constexpr std::uint64_t xcr0_xmm_ymm = 0x06;           // SSE and AVX
constexpr std::uint64_t xcr0_xmm_ymm_mask_zmm = 0xe6;  // and opmask, ZMM_Hi256, Hi16_ZMM

constexpr std::uint64_t hwcap_arm64_asimd = 1u << 1;
constexpr std::uint64_t hwcap_power_vsx = 0x80;

constexpr bool has_all(std::uint64_t word, std::uint64_t bits) noexcept { return (word & bits) == bits; }

#if defined(__x86_64__)
CpuidWords read_words() noexcept {
  CpuidWords words;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return words;
  words.leaf1_ecx = ecx;
  words.leaf1_edx = edx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    words.leaf7_ebx = ebx;
    words.leaf7_ecx = ecx;
  }
  if (has_all(words.leaf1_ecx, leaf1_ecx_osxsave)) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    // The intrinsic would require a target attribute. The instruction is available because OSXSAVE is set.
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    words.xcr0 = (std::uint64_t{high} << 32) | low;
  }
  return words;
}
#endif

}  // namespace

Features decode(const CpuidWords& words) noexcept {
  const bool os_saves_extended_state = has_all(words.leaf1_ecx, leaf1_ecx_osxsave);
  const bool ymm_usable =
      os_saves_extended_state && has_all(words.leaf1_ecx, leaf1_ecx_avx) && has_all(words.xcr0, xcr0_xmm_ymm);
  const bool zmm_usable = ymm_usable && has_all(words.xcr0, xcr0_xmm_ymm_mask_zmm);
  Features features;
  features.sse2 = has_all(words.leaf1_edx, leaf1_edx_sse2);
  features.sse41 = has_all(words.leaf1_ecx, leaf1_ecx_sse41);
  features.avx2 = ymm_usable && has_all(words.leaf7_ebx, leaf7_ebx_avx2);
  features.avx512f = zmm_usable && has_all(words.leaf7_ebx, leaf7_ebx_avx512f);
  features.movdir64b = has_all(words.leaf7_ecx, leaf7_ecx_movdir64b);
  return features;
}

Features decode_arm64(std::uint64_t hwcap) noexcept {
  Features features;
  features.asimd = has_all(hwcap, hwcap_arm64_asimd);
  return features;
}

Features decode_power(std::uint64_t hwcap) noexcept {
  Features features;
  features.vsx = has_all(hwcap, hwcap_power_vsx);
  return features;
}

Features detect() noexcept {
#if defined(__x86_64__)
  // Each CPUID takes microseconds in a virtual machine.
  static const Features features = decode(read_words());
  return features;
#elif defined(__aarch64__)
  return decode_arm64(::getauxval(AT_HWCAP));
#elif defined(__powerpc64__)
  return decode_power(::getauxval(AT_HWCAP));
#else
  return Features{};
#endif
}

}  // namespace gdrkit::cpu
