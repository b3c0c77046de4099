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
  bool ls64 = false;  ///< ST64B and LD64B, which fault on cached memory
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

/// Entries of the auxiliary vector (getauxval): AT_HWCAP and AT_HWCAP3; 0 where Linux gives none.
struct AuxiliaryWords {
  std::uint64_t hwcap = 0;
  std::uint64_t hwcap3 = 0;
};

/// What these words mean (Intel SDM volume 2A, CPUID; volume 1, sections 13.2 and 14.3 for XCR0).
[[nodiscard]] Features decode(const CpuidWords& words) noexcept;
/// What they mean on arm64 and on POWER (arch/arm64/include/uapi/asm/hwcap.h and
/// arch/powerpc/include/uapi/asm/cputable.h of Linux).
[[nodiscard]] Features decode_arm64(const AuxiliaryWords& words) noexcept;
[[nodiscard]] Features decode_power(const AuxiliaryWords& words) noexcept;
/// This CPU's.
[[nodiscard]] Features detect() noexcept;
/// `features` without what faults on cached memory, such as the memory that stands in for a device's.
[[nodiscard]] Features for_cached_memory(Features features) noexcept;

}  // namespace gdrkit::cpu
