// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `pattern`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// How the ranks' elements are combined. bits: not at all; each rank's are random.
enum class PatternKind : std::uint32_t { bits, sum, product, minimum, maximum, average };

/// In device memory. Before the launch set wrong to 0 and first_wrong to ~0. Several launches in one stream may use the
/// same counters.
struct PatternFound {
  std::uint64_t wrong;        ///< elements
  std::uint64_t first_wrong;  ///< the lowest index of a wrong element, counted from PatternParameters::address
};

/// `count` elements from index `first` on. pattern_value.cuh defines their values.
struct PatternParameters {
  std::uint64_t address;  ///< a multiple of element_bytes
  std::uint64_t count;
  std::uint64_t first;
  std::uint64_t seed;
  std::uint64_t found;  ///< PatternFound to compare; 0: write
  PatternKind kind;
  std::uint32_t rank;
  std::uint32_t ranks;
  std::uint32_t is_combined;    ///< 1: the combination of all ranks' elements; 0: one rank's
  std::uint32_t element_bytes;  ///< 1, 2, 4 or 8
  std::uint32_t mantissa_bits;  ///< of a float, without the implicit one; 0: an integer
  std::uint32_t exponent_bias;
  std::uint32_t largest;    ///< integers from 0 to this fit the type exactly; at least 1
  std::uint32_t tolerance;  ///< maximum distance of the bits; for averages that are rounded
  std::uint32_t unused;
};

}  // namespace gdrkit::platform
