// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which instruction sets this CPU and operating system offer: by our own CPUID and XGETBV on x86-64, elsewhere by the
// auxiliary vector that Linux gives every process.
#pragma once

#include <cstdint>

namespace gdrkit::cpu {

/// Those of other architectures are false.
struct Features {
  // x86-64
  bool sse2 = false;
  bool sse41 = false;
  bool avx2 = false;     ///< includes the operating system saving YMM state
  bool avx512f = false;  ///< includes the operating system saving ZMM and mask state
  bool movdir64b = false;
  // arm64
  bool asimd = false;
  // POWER
  bool vsx = false;
};

/// The words detection looks at; 0 where the CPU does not have the leaf or the operating system did not enable XGETBV.
struct CpuidWords {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf1_edx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint64_t xcr0 = 0;
};

/// What these words mean (Intel SDM volume 2A, CPUID; volume 1, sections 13.2 and 14.3 for XCR0).
[[nodiscard]] Features decode(const CpuidWords& words) noexcept;
/// What AT_HWCAP of the auxiliary vector means on arm64 and on POWER (arch/arm64/include/uapi/asm/hwcap.h and
/// arch/powerpc/include/uapi/asm/cputable.h of Linux).
[[nodiscard]] Features decode_arm64(std::uint64_t hwcap) noexcept;
[[nodiscard]] Features decode_power(std::uint64_t hwcap) noexcept;
/// This CPU's.
[[nodiscard]] Features detect() noexcept;

}  // namespace gdrkit::cpu
