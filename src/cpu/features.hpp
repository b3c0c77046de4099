// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which instruction sets this CPU and operating system offer, by our own CPUID and XGETBV.
#pragma once

namespace gdrkit::cpu {

struct Features {
  bool sse2 = false;
  bool sse41 = false;
  bool avx2 = false;       ///< includes the operating system saving YMM state
  bool avx512f = false;    ///< includes the operating system saving ZMM and mask state
  bool movdir64b = false;
};

[[nodiscard]] Features detect() noexcept;

}  // namespace gdrkit::cpu
