// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which instruction sets this CPU and operating system offer, by our own CPUID and XGETBV.
#pragma once

#include <cstdint>

namespace gdrkit::cpu {

struct Features {
  bool sse2 = false;
  bool sse41 = false;
  bool avx2 = false;     ///< includes the operating system saving YMM state
  bool avx512f = false;  ///< includes the operating system saving ZMM and mask state
  bool movdir64b = false;
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
/// This CPU's; all false on an architecture without CPUID.
[[nodiscard]] Features detect() noexcept;

}  // namespace gdrkit::cpu
