// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `pattern`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// How the ranks' elements are combined. bits: not combined; each rank's elements are random bits.
enum class PatternKind : std::uint32_t { bits, sum, product, minimum, maximum, average };

/// In device memory. Initialize wrong to 0 and first_wrong to ~0. Several launches in one stream may share it.
struct PatternFound {
  std::uint64_t wrong;        ///< number of wrong elements
  std::uint64_t first_wrong;  ///< lowest index of a wrong element, relative to PatternParameters::address
};

/// `count` elements, starting with element `first`. pattern_value.cuh defines their values.
struct PatternParameters {
  std::uint64_t address;  ///< a multiple of element_bytes
  std::uint64_t count;
  std::uint64_t first;
  std::uint64_t seed;
  std::uint64_t found;  ///< address of a PatternFound: compare; 0: write
  PatternKind kind;
  std::uint32_t rank;
  std::uint32_t ranks;
  std::uint32_t is_combined;    ///< 1: the combination of all ranks' elements; 0: one rank's
  std::uint32_t element_bytes;  ///< 1, 2, 4 or 8
  std::uint32_t mantissa_bits;  ///< of a float, without the implicit leading one; 0: integer
  std::uint32_t exponent_bias;
  std::uint32_t largest;    ///< the type represents all integers from 0 to this exactly; at least 1
  std::uint32_t tolerance;  ///< maximum difference of the bits, for rounded averages
  std::uint32_t unused;
};

}  // namespace gdrkit::platform
