// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The instruction sets that the CPU and the operating system support. Detected with CPUID and XGETBV on x86-64, and
// from the auxiliary vector of the process elsewhere.
#pragma once

#include <cstdint>

namespace gdrkit::cpu {

/// Features of other architectures are false.
struct Features {
  // x86-64
  bool sse2 = false;
  bool sse41 = false;
  bool avx2 = false;     ///< the operating system saves YMM state too
  bool avx512f = false;  ///< the operating system saves ZMM and mask state too
  bool movdir64b = false;
  // arm64
  bool asimd = false;
  // POWER
  bool vsx = false;
};

/// The registers that detection reads. 0 if the CPU lacks the leaf or the operating system has not enabled XGETBV.
struct CpuidWords {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf1_edx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint64_t xcr0 = 0;
};

/// Decodes the registers (Intel SDM volume 2A, CPUID; volume 1, sections 13.2 and 14.3 for XCR0).
[[nodiscard]] Features decode(const CpuidWords& words) noexcept;
/// Decodes AT_HWCAP of the auxiliary vector (arch/arm64/include/uapi/asm/hwcap.h of Linux).
[[nodiscard]] Features decode_arm64(std::uint64_t hwcap) noexcept;
/// Decodes AT_HWCAP of the auxiliary vector (arch/powerpc/include/uapi/asm/cputable.h of Linux).
[[nodiscard]] Features decode_power(std::uint64_t hwcap) noexcept;
/// The features of this CPU.
[[nodiscard]] Features detect() noexcept;

}  // namespace gdrkit::cpu
