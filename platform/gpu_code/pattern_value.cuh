// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PatternValue: the elements that ranks contribute to a collective, and the expected combination. GPU threads and the
// CPU compute the same values.
//
// Every combined value and every partial result is a small integer that the type represents exactly. The bits therefore
// do not depend on the order or the precision in which a library combines the ranks.
#pragma once

#include <cstdint>

#include "platform/gpu_code/pattern_params.hpp"

#ifdef __CUDACC__
#define GDRKIT_PATTERN_FUNCTION __host__ __device__ inline
#else
#define GDRKIT_PATTERN_FUNCTION inline
#endif

namespace gdrkit::platform {

/// Hashes the element's index: Stafford's variant 13 of the MurmurHash3 finalizer.
GDRKIT_PATTERN_FUNCTION std::uint64_t pattern_hash(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t value = seed + (index + 1) * 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

/// The share of `total` of the rank at `place` of `ranks`. Shares differ by at most 1, and their sum is `total`.
GDRKIT_PATTERN_FUNCTION std::uint32_t pattern_share(std::uint32_t total, std::uint32_t place, std::uint32_t ranks) {
  const std::uint64_t wide = total;
  return static_cast<std::uint32_t>(wide * (place + 1) / ranks - wide * place / ranks);
}

/// Encodes an integer in the element's format. A float must represent it exactly.
GDRKIT_PATTERN_FUNCTION std::uint64_t pattern_encode(const PatternParameters& parameters, std::uint32_t value) {
  if (parameters.mantissa_bits == 0 || value == 0) return value;
  std::uint32_t exponent = 0;
  while ((value >> exponent) > 1) ++exponent;
  const std::uint64_t fraction = value ^ (std::uint64_t{1} << exponent);
  const std::uint64_t mantissa = exponent <= parameters.mantissa_bits
                                     ? fraction << (parameters.mantissa_bits - exponent)
                                     : fraction >> (exponent - parameters.mantissa_bits);
  return (std::uint64_t{exponent} + parameters.exponent_bias) << parameters.mantissa_bits | mantissa;
}

/// The bits of element `index`: of this rank, or of all ranks combined.
GDRKIT_PATTERN_FUNCTION std::uint64_t pattern_value(const PatternParameters& parameters, std::uint64_t index) {
  constexpr std::uint32_t product_exponents = 7;  // 2^6 fits a signed byte
  const std::uint64_t hash = pattern_hash(parameters.seed, index);
  const auto low = static_cast<std::uint32_t>(hash);
  const std::uint32_t ranks = parameters.ranks;
  const bool is_combined = parameters.is_combined != 0;
  // The assignment of shares to ranks changes with each element.
  const std::uint32_t place = (parameters.rank + static_cast<std::uint32_t>(hash >> 33)) % ranks;
  std::uint32_t value = 0;
  switch (parameters.kind) {
    case PatternKind::bits: return pattern_hash(parameters.seed ^ (parameters.rank + 1), index);
    case PatternKind::sum:
      value = low % (parameters.largest + 1);
      if (!is_combined) value = pattern_share(value, place, ranks);
      break;
    case PatternKind::product:
      value = low % product_exponents;
      value = 1U << (is_combined ? value : pattern_share(value, place, ranks));
      break;
    case PatternKind::minimum:
      value = low % parameters.largest;
      if (!is_combined && place != 0) value += 1;
      break;
    case PatternKind::maximum:
      value = low % parameters.largest;
      if (is_combined || place == 0) value += 1;
      break;
    default:  // average: shares are multiples of the number of ranks, because some libraries divide first
      value = low % (parameters.largest / ranks + 1);
      if (!is_combined) value = pattern_share(value, place, ranks) * ranks;
      break;
  }
  return pattern_encode(parameters, value);
}

/// Compares the bits within the tolerance: floats of the same sign are ordered like their bits.
GDRKIT_PATTERN_FUNCTION bool is_pattern(const PatternParameters& parameters, std::uint64_t seen,
                                        std::uint64_t expected) {
  const std::uint64_t distance = seen > expected ? seen - expected : expected - seen;
  return distance <= parameters.tolerance;
}

}  // namespace gdrkit::platform
