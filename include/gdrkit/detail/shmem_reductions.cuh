// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Reductions of elements, 16 bytes of them at a time: of a type known to the compiler, and of any type. Included by
// shmem_collectives.cuh; also what the CPU computes with.
#ifndef GDRKIT_SHMEM_REDUCTIONS_CUH
#define GDRKIT_SHMEM_REDUCTIONS_CUH

#include <gdrkit/detail/shmem_team.cuh>

#include <cstring>

namespace gdrkit::shmem {

/// Half and Bfloat16: elements without a C++ type. Computed as floats, and rounded to nearest after each step.
struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};

namespace detail {

template <class To, class From>
GDRKIT_SHMEM_FUNCTION To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

#if defined(__CUDACC__)
GDRKIT_SHMEM_FUNCTION float widen(Half value) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
  return wide;
}
GDRKIT_SHMEM_FUNCTION void narrow(float wide, Half* value) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value->bits) : "f"(wide));
}
#else
inline float widen(Half value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  const std::uint32_t exponent = value.bits >> 10 & 31U;
  const std::uint32_t fraction = value.bits & 0x3ffU;
  if (exponent == 31) return same_bits<float>(sign | 0x7f800000U | fraction << 13);
  if (exponent == 0) return (sign != 0 ? -1.0F : 1.0F) * static_cast<float>(fraction) / 16777216.0F;  // 2^24
  return same_bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
}
inline void narrow(float wide, Half* value) {
  const auto bits = same_bits<std::uint32_t>(wide);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  std::uint32_t size = bits & 0x7fffffffU;
  if (size > 0x7f800000U) {
    size = 0x7fff;  // not a number
  } else if (size >= 0x477ff000U) {
    size = 0x7c00;  // 65520 and more round to infinity
  } else if (size < 0x38800000U) {
    // Below 2^-14: multiples of 2^-24, to which the sum with 0.5 rounds.
    size = same_bits<std::uint32_t>(same_bits<float>(size) + 0.5F) - 0x3f000000U;
  } else {
    size = (size + 0xfffU + (size >> 13 & 1U) - 0x38000000U) >> 13;
  }
  value->bits = static_cast<std::uint16_t>(sign | size);
}
#endif

GDRKIT_SHMEM_FUNCTION float widen(Bfloat16 value) {
  return same_bits<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
GDRKIT_SHMEM_FUNCTION void narrow(float wide, Bfloat16* value) {
  const auto bits = same_bits<std::uint32_t>(wide);
  const bool is_number = (bits & 0x7fffffffU) <= 0x7f800000U;
  value->bits = static_cast<std::uint16_t>(is_number ? (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16 : 0x7fffU);
}

/// Types for computation: unsigned words for integers, because their overflow is defined.
template <class T>
struct Arithmetic {
  using Integer = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using Wide = std::conditional_t<std::is_floating_point_v<T>, T, Integer>;
  GDRKIT_SHMEM_FUNCTION static Wide wide(T value) { return static_cast<Wide>(value); }
  GDRKIT_SHMEM_FUNCTION static T narrow(Wide value) { return static_cast<T>(value); }
  GDRKIT_SHMEM_FUNCTION static bool is_less(T left, T right) { return left < right; }
};
template <class T>
struct ArithmeticAsFloat {
  using Wide = float;
  GDRKIT_SHMEM_FUNCTION static float wide(T value) { return widen(value); }
  GDRKIT_SHMEM_FUNCTION static T narrow(float value) {
    T narrowed;
    detail::narrow(value, &narrowed);
    return narrowed;
  }
  GDRKIT_SHMEM_FUNCTION static bool is_less(T left, T right) { return widen(left) < widen(right); }
};
template <>
struct Arithmetic<Half> : ArithmeticAsFloat<Half> {};
template <>
struct Arithmetic<Bfloat16> : ArithmeticAsFloat<Bfloat16> {};

template <gdrkit_shmem_reduction reduction, class T>
GDRKIT_SHMEM_FUNCTION T combine(T left, T right) {
  using Of = Arithmetic<T>;
  if constexpr (reduction == GDRKIT_SHMEM_SUM) return Of::narrow(Of::wide(left) + Of::wide(right));
  if constexpr (reduction == GDRKIT_SHMEM_PROD) return Of::narrow(Of::wide(left) * Of::wide(right));
  if constexpr (reduction == GDRKIT_SHMEM_MIN) return Of::is_less(right, left) ? right : left;
  if constexpr (reduction == GDRKIT_SHMEM_MAX) return Of::is_less(left, right) ? right : left;
  if constexpr (reduction == GDRKIT_SHMEM_AND) return static_cast<T>(left & right);
  if constexpr (reduction == GDRKIT_SHMEM_OR) return static_cast<T>(left | right);
  if constexpr (reduction == GDRKIT_SHMEM_XOR) return static_cast<T>(left ^ right);
}

/// Combines the elements of one word.
template <gdrkit_shmem_reduction reduction, class T, class Word>
GDRKIT_SHMEM_FUNCTION Word combine_elements(const Word& left, const Word& right) {
  constexpr unsigned count = sizeof(Word) / sizeof(T);
  T lefts[count], rights[count];
  memcpy(lefts, &left, sizeof left);
  memcpy(rights, &right, sizeof right);
  GDRKIT_SHMEM_UNROLLED
  for (unsigned i = 0; i < count; ++i) lefts[i] = combine<reduction>(lefts[i], rights[i]);
  Word combined;
  memcpy(&combined, lefts, sizeof combined);
  return combined;
}

/// A reduction that is known at compile time.
template <gdrkit_shmem_reduction reduction, class T>
struct Reduction {
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION static constexpr unsigned element_bytes() { return sizeof(T); }
  GDRKIT_SHMEM_FUNCTION Words16 operator()(const Words16& left, const Words16& right) const {
    return combine_elements<reduction, T>(left, right);
  }
};

// Any type and reduction: a way for each type of computing, and as few instructions as that needs, but for sums.

/// Sums or products, minima or maxima.
enum class Combining : bool { as_numbers, by_order };

/// `is_second`: products, or maxima.
template <Combining combining, class T>
GDRKIT_SHMEM_FUNCTION T combine_as(T left, T right, bool is_second) {
  using Of = Arithmetic<T>;
  if constexpr (combining == Combining::as_numbers) {
    const auto first = Of::wide(left), second = Of::wide(right);
    return Of::narrow(is_second ? first * second : first + second);
  } else {
    return (is_second ? Of::is_less(left, right) : Of::is_less(right, left)) ? right : left;
  }
}

/// One part of 4 bytes, or 8 where an element has as many, after the other by the same instructions.
template <Combining combining, class T>
GDRKIT_SHMEM_FUNCTION Words16 combine_parts(Words16 left, Words16 right, bool is_second) {
  using Part = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr unsigned parts = 16 / sizeof(Part), count = sizeof(Part) / sizeof(T);
  Part from[parts], with[parts];
  memcpy(from, &left, sizeof left);
  memcpy(with, &right, sizeof right);
  GDRKIT_SHMEM_ROLLED
  for (unsigned part = 0; part < parts; ++part) {
    T lefts[count], rights[count];
    memcpy(lefts, from, sizeof lefts);
    memcpy(rights, with, sizeof rights);
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < count; ++i) lefts[i] = combine_as<combining>(lefts[i], rights[i], is_second);
    // Round by one part: what is at the index of the loop would have to be in memory.
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 1; i < parts; ++i) {
      from[i - 1] = from[i];
      with[i - 1] = with[i];
    }
    memcpy(&from[parts - 1], lefts, sizeof lefts);
  }
  Words16 combined;
  memcpy(&combined, from, sizeof combined);
  return combined;
}

template <Combining combining>
GDRKIT_SHMEM_FUNCTION Words16 combine_of_type(unsigned type, const Words16& left, const Words16& right,
                                              bool is_second) {
  constexpr bool by_order = combining == Combining::by_order;
  // Signed or not makes no difference to sums and products of integers.
  if (!by_order && type < 32) type &= ~16U;
  switch (type) {
    case GDRKIT_SHMEM_TYPE_UINT8: return combine_parts<combining, std::uint8_t>(left, right, is_second);
    case GDRKIT_SHMEM_TYPE_UINT16: return combine_parts<combining, std::uint16_t>(left, right, is_second);
    case GDRKIT_SHMEM_TYPE_UINT32: return combine_parts<combining, std::uint32_t>(left, right, is_second);
    case GDRKIT_SHMEM_TYPE_UINT64: return combine_parts<combining, std::uint64_t>(left, right, is_second);
    case GDRKIT_SHMEM_TYPE_HALF: return combine_parts<combining, Half>(left, right, is_second);
    case GDRKIT_SHMEM_TYPE_BFLOAT16: return combine_parts<combining, Bfloat16>(left, right, is_second);
    case GDRKIT_SHMEM_TYPE_FLOAT: return combine_parts<combining, float>(left, right, is_second);
    case GDRKIT_SHMEM_TYPE_DOUBLE: return combine_parts<combining, double>(left, right, is_second);
    default: break;
  }
  if constexpr (by_order) {
    switch (type) {
      case GDRKIT_SHMEM_TYPE_INT8: return combine_parts<combining, std::int8_t>(left, right, is_second);
      case GDRKIT_SHMEM_TYPE_INT16: return combine_parts<combining, std::int16_t>(left, right, is_second);
      case GDRKIT_SHMEM_TYPE_INT32: return combine_parts<combining, std::int32_t>(left, right, is_second);
      default: return combine_parts<combining, std::int64_t>(left, right, is_second);
    }
  }
  return left;
}

/// What programs reduce most, without loops.
GDRKIT_SHMEM_FUNCTION Words16 sum_of_type(unsigned type, const Words16& left, const Words16& right) {
  if (type == GDRKIT_SHMEM_TYPE_FLOAT) return combine_elements<GDRKIT_SHMEM_SUM, float>(left, right);
  if (type == GDRKIT_SHMEM_TYPE_BFLOAT16) return combine_elements<GDRKIT_SHMEM_SUM, Bfloat16>(left, right);
  if (type == GDRKIT_SHMEM_TYPE_HALF) return combine_elements<GDRKIT_SHMEM_SUM, Half>(left, right);
  if (type == GDRKIT_SHMEM_TYPE_DOUBLE) return combine_elements<GDRKIT_SHMEM_SUM, double>(left, right);
  // Signed or not makes no difference to sums of integers.
  if ((type & 15U) == 4) return combine_elements<GDRKIT_SHMEM_SUM, std::uint32_t>(left, right);
  if ((type & 15U) == 8) return combine_elements<GDRKIT_SHMEM_SUM, std::uint64_t>(left, right);
  return combine_of_type<Combining::as_numbers>(type, left, right, false);
}

GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION Words16 combine_any(unsigned type, unsigned reduction, Words16 left,
                                                                Words16 right) {
  if (reduction == GDRKIT_SHMEM_SUM) return sum_of_type(type, left, right);
  switch (reduction) {
    case GDRKIT_SHMEM_PROD: return combine_of_type<Combining::as_numbers>(type, left, right, true);
    case GDRKIT_SHMEM_MIN:
    case GDRKIT_SHMEM_MAX:
      return combine_of_type<Combining::by_order>(type, left, right, reduction == GDRKIT_SHMEM_MAX);
    case GDRKIT_SHMEM_AND: return combine_elements<GDRKIT_SHMEM_AND, std::uint32_t>(left, right);
    case GDRKIT_SHMEM_OR: return combine_elements<GDRKIT_SHMEM_OR, std::uint32_t>(left, right);
    default: return combine_elements<GDRKIT_SHMEM_XOR, std::uint32_t>(left, right);
  }
}

/// A reduction that is chosen when the program runs: gdrkit_shmem_type and gdrkit_shmem_reduction.
struct AnyReduction {
  unsigned type;
  unsigned reduction;
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION unsigned element_bytes() const { return type & 15U; }
  GDRKIT_SHMEM_FUNCTION Words16 operator()(const Words16& left, const Words16& right) const {
    return combine_any(type, reduction, left, right);
  }
};

}  // namespace detail
}  // namespace gdrkit::shmem

#endif
