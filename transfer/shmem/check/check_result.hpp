// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CheckResult: what one check found on one PE. PE 0 collects those of all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::transfer::shmem {

inline constexpr std::size_t kept_failures = 3;

/// Plain bytes, which travel through the symmetric heap.
struct CheckResult {
  std::uint64_t seal = 0;  ///< result_seal once the rest has arrived
  std::uint64_t operations = 0;
  std::uint64_t failures = 0;
  std::uint64_t duration_us = 0;
  char texts[kept_failures][256] = {};  ///< of the first failures
};
inline constexpr std::uint64_t result_seal = 0x6764726b69747368;

}  // namespace gdrkit::transfer::shmem
