// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `atomic`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

enum class AtomicUpdate : std::uint32_t { add, swap, compare_swap, bit_and, bit_or, bit_xor };

/// One thread updates the naturally aligned word at `target`, atomically at system scope.
struct AtomicParameters {
  std::uint64_t target;
  std::uint64_t operand;
  std::uint64_t compare;     ///< for compare_swap
  std::uint64_t fetched;     ///< address for the previous value, as 64 bits; 0: discard it
  std::uint32_t size_bytes;  ///< 4 or 8
  AtomicUpdate update;
};

}  // namespace gdrkit::platform
