// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// reduce and reducescatter: every type and reduction, against sums that the test computes itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "collective_side.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

using tests::CollectiveSide;
using tests::little_scratch;
using tests::run_shmem_job;
using tests::succeeded;
using tests::Way;
using tests::world;
using Bytes = std::vector<std::uint8_t>;

// Two-byte floating-point types, of whole numbers that they hold exactly.
struct HalfNumber {
  std::uint16_t bits;
  static HalfNumber of(double value) {
    if (value == 0) return {0};
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
    const auto mantissa = static_cast<std::uint32_t>(fraction * 2048) - 1024;
    const std::uint32_t sign = value < 0 ? 0x8000 : 0;
    return {static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent + 14) << 10 | mantissa)};
  }
};
struct BrainNumber {
  std::uint16_t bits;
  static BrainNumber of(double value) {
    const auto single = static_cast<float>(value);
    std::uint32_t all = 0;
    std::memcpy(&all, &single, sizeof all);
    return {static_cast<std::uint16_t>(all >> 16)};
  }
};

/// Integers are random bits. Floating-point numbers are small and whole, so that every order gives the same result, and
/// for products powers of two.
template <class T>
struct Element {
  using Number = std::conditional_t<std::is_integral_v<T>, T, double>;
  static Number make(int pe, std::size_t index, gdrkit_shmem_reduction reduction) {
    std::uint64_t bits = (index * 64 + static_cast<std::size_t>(pe) + 1) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9U;
    bits ^= bits >> 29;
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(bits);
    else if (reduction == GDRKIT_SHMEM_PROD)
      return bits % 2 == 0 ? -1 : 2;
    else
      return static_cast<double>(bits % 33) - 16;
  }
  static T encode(Number number) {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<T>(number);
    else
      return T::of(number);
  }
};

template <class Number>
Number combine(gdrkit_shmem_reduction reduction, Number left, Number right) {
  if (reduction == GDRKIT_SHMEM_MIN) return std::min(left, right);
  if (reduction == GDRKIT_SHMEM_MAX) return std::max(left, right);
  if constexpr (std::is_integral_v<Number>) {
    const auto one = static_cast<std::uint64_t>(left), other = static_cast<std::uint64_t>(right);
    switch (reduction) {
      case GDRKIT_SHMEM_SUM: return static_cast<Number>(one + other);
      case GDRKIT_SHMEM_PROD: return static_cast<Number>(one * other);
      case GDRKIT_SHMEM_AND: return static_cast<Number>(one & other);
      case GDRKIT_SHMEM_OR: return static_cast<Number>(one | other);
      default: return static_cast<Number>(one ^ other);
    }
  } else {
    return reduction == GDRKIT_SHMEM_SUM ? left + right : left * right;
  }
}

template <class T>
Bytes bytes_of(const std::vector<T>& elements) {
  Bytes bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

template <class T>
Bytes source_of(int pe, std::size_t count, gdrkit_shmem_reduction reduction) {
  std::vector<T> elements(count);
  for (std::size_t i = 0; i < count; ++i) elements[i] = Element<T>::encode(Element<T>::make(pe, i, reduction));
  return bytes_of(elements);
}

template <class T>
Bytes reduced(int n_pes, std::size_t first, std::size_t count, gdrkit_shmem_reduction reduction) {
  std::vector<T> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto number = Element<T>::make(0, first + i, reduction);
    for (int pe = 1; pe < n_pes; ++pe) number = combine(reduction, number, Element<T>::make(pe, first + i, reduction));
    elements[i] = Element<T>::encode(number);
  }
  return bytes_of(elements);
}

struct Shape {
  std::size_t count;
  std::size_t shift;  ///< number of elements before the first, to avoid an alignment of 16 bytes
  bool is_in_place;
};

template <class T>
void run_reductions(core::Pe& pe, CollectiveSide& side, gdrkit_shmem_type type, const Shape& shape, Way way) {
  const auto n_pes = static_cast<std::size_t>(pe.n_pes());
  const std::size_t shift = shape.shift * sizeof(T), count = shape.count;
  for (int number = GDRKIT_SHMEM_SUM; number <= GDRKIT_SHMEM_XOR; ++number) {
    const auto reduction = static_cast<gdrkit_shmem_reduction>(number);
    if (number >= GDRKIT_SHMEM_AND && !std::is_integral_v<T>) continue;
    SCOPED_TRACE("type " + std::to_string(type) + ", reduction " + std::to_string(number) + ", " +
                 std::to_string(count) + " elements" + (way == Way::host ? ", host" : ", stream"));
    std::uint8_t* const source = (shape.is_in_place ? side.target : side.source) + shift;
    side.write(source, source_of<T>(pe.pe(), count, reduction));
    ASSERT_TRUE(succeeded(side.call(
        {CollectiveOperation::reduce, world, side.target + shift, source, count * sizeof(T), 0, type, reduction},
        way)));
    ASSERT_EQ(side.read(side.target + shift, count * sizeof(T)), reduced<T>(pe.n_pes(), 0, count, reduction));
    if (shape.is_in_place) continue;
    side.write(source, source_of<T>(pe.pe(), n_pes * count, reduction));
    side.write(side.target + shift + count * sizeof(T), Bytes(64, 0xee));
    ASSERT_TRUE(succeeded(side.call(
        {CollectiveOperation::reducescatter, world, side.target + shift, source, count * sizeof(T), 0, type, reduction},
        way)));
    Bytes expected = reduced<T>(pe.n_pes(), static_cast<std::size_t>(pe.pe()) * count, count, reduction);
    expected.insert(expected.end(), 64, 0xee);
    ASSERT_EQ(side.read(side.target + shift, expected.size()), expected);
  }
}

template <class T>
void run_type(core::Pe& pe, CollectiveSide& side, gdrkit_shmem_type type) {
  // With small scratch memory the last two are large for every element type.
  for (const Shape& shape : {Shape{1, 0, false}, {3, 1, false}, {20, 0, true}, {5001, 0, false}, {4999, 1, true}}) {
    for (const Way way : {Way::host, Way::stream}) run_reductions<T>(pe, side, type, shape, way);
  }
}

void run_types(core::Pe& pe) {
  CollectiveSide side(pe, 5100 * 8 * 5);
#if defined(__SANITIZE_THREAD__)  // the types differ in the arithmetic of one thread only
  run_type<std::uint16_t>(pe, side, GDRKIT_SHMEM_TYPE_UINT16);
  run_type<double>(pe, side, GDRKIT_SHMEM_TYPE_DOUBLE);
#else
  run_type<std::uint8_t>(pe, side, GDRKIT_SHMEM_TYPE_UINT8);
  run_type<std::uint16_t>(pe, side, GDRKIT_SHMEM_TYPE_UINT16);
  run_type<std::uint32_t>(pe, side, GDRKIT_SHMEM_TYPE_UINT32);
  run_type<std::uint64_t>(pe, side, GDRKIT_SHMEM_TYPE_UINT64);
  run_type<std::int8_t>(pe, side, GDRKIT_SHMEM_TYPE_INT8);
  run_type<std::int16_t>(pe, side, GDRKIT_SHMEM_TYPE_INT16);
  run_type<std::int32_t>(pe, side, GDRKIT_SHMEM_TYPE_INT32);
  run_type<std::int64_t>(pe, side, GDRKIT_SHMEM_TYPE_INT64);
  run_type<HalfNumber>(pe, side, GDRKIT_SHMEM_TYPE_HALF);
  run_type<BrainNumber>(pe, side, GDRKIT_SHMEM_TYPE_BFLOAT16);
  run_type<float>(pe, side, GDRKIT_SHMEM_TYPE_FLOAT);
  run_type<double>(pe, side, GDRKIT_SHMEM_TYPE_DOUBLE);
#endif
}

TEST(ShmemReduction, ReducesEveryTypeOnOnePe) { run_shmem_job(little_scratch(1), run_types); }
TEST(ShmemReduction, ReducesEveryTypeOnTwoPes) { run_shmem_job(little_scratch(2), run_types); }
TEST(ShmemReduction, ReducesEveryTypeOnFivePes) { run_shmem_job(little_scratch(5), run_types); }

/// Rounded sums depend on their order; all PEs must nevertheless get the same bits.
TEST(ShmemReduction, AllPesReceiveIdenticalBits) {
  run_shmem_job(little_scratch(4), [](core::Pe& pe) {
    CollectiveSide side(pe, 100'000);
    for (const std::size_t count : {10U, 300U, 20'000U}) {
      for (const Way way : {Way::host, Way::stream}) {
        std::vector<float> mine(count);
        std::mt19937 random(static_cast<unsigned>(pe.pe()) + 5);
        for (float& value : mine)
          value = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 24));
        side.write(side.source, bytes_of(mine));
        ASSERT_TRUE(succeeded(side.call({CollectiveOperation::reduce, world, side.target, side.source, count * 4, 0,
                                         GDRKIT_SHMEM_TYPE_FLOAT, GDRKIT_SHMEM_SUM},
                                        way)));
        const Bytes sums = side.read(side.target, count * 4);
        ASSERT_TRUE(succeeded(pe.barrier_all()));
        Bytes theirs(count * 4);
        ASSERT_TRUE(succeeded(pe.transfers().get(theirs.data(), side.target, theirs.size(), (pe.pe() + 1) % 4, false)));
        EXPECT_EQ(theirs, sums) << count;
        ASSERT_TRUE(succeeded(pe.sync_all()));
      }
    }
  });
}

TEST(ShmemReduction, ReducesInShares) {
  for (const tests::InShares& one : tests::reductions_in_shares) {
    if (!one.can_run()) continue;
    run_shmem_job(one.options(), [&](core::Pe& pe) {
      CollectiveSide side(pe, one.size_bytes + 256);
      for (const bool is_in_place : {false, true}) {
        for (const std::size_t shift : {0U, 4U}) {
          if (one.n_pes > 8 && (is_in_place || shift == 0)) continue;  // a call of 64 PEs takes seconds on few CPUs
          SCOPED_TRACE(std::to_string(one.n_pes) + " PEs, shifted by " + std::to_string(shift));
          std::uint8_t* const source = (is_in_place ? side.target : side.source) + shift;
          side.write(side.target, Bytes(side.room_bytes, 0xee));
          side.write(source, source_of<std::int32_t>(pe.pe(), one.size_bytes / 4, GDRKIT_SHMEM_SUM));
          ASSERT_TRUE(succeeded(side.call({CollectiveOperation::reduce, world, side.target + shift, source,
                                           one.size_bytes, 0, GDRKIT_SHMEM_TYPE_INT32, GDRKIT_SHMEM_SUM},
                                          Way::stream)));
          Bytes expected = reduced<std::int32_t>(pe.n_pes(), 0, one.size_bytes / 4, GDRKIT_SHMEM_SUM);
          expected.insert(expected.end(), 64, 0xee);
          ASSERT_EQ(tests::first_difference(side.read(side.target + shift, expected.size()), expected),
                    expected.size());
        }
      }
    });
  }
}

/// Numbers that are none, infinite, or too small, of the two-byte types: the CPU and the GPU round alike.
TEST(ShmemReduction, HandlesLimitsOfTwoByteTypes) {
  run_shmem_job(little_scratch(2), [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    struct Sum {
      std::uint16_t left, right, sum;
    };
    // 65504 + 16 rounds to infinity; 65504 + 8 does not; the smallest numbers; 1 + 2^-11 is a tie, to even; minus zero.
    const std::vector<Sum> halves = {{0x7bff, 0x4c00, 0x7c00}, {0x7bff, 0x4800, 0x7bff}, {0x0001, 0x0001, 0x0002},
                                     {0x0400, 0x8001, 0x03ff}, {0x3c00, 0x1000, 0x3c00}, {0x3c01, 0x1000, 0x3c02},
                                     {0x7c00, 0x3c00, 0x7c00}, {0x8000, 0x8000, 0x8000}, {0x7c00, 0xfc00, 0x7fff}};
    const std::vector<Sum> brains = {{0x7f7f, 0x7f7f, 0x7f80},
                                     {0x3f80, 0x3b80, 0x3f80},
                                     {0x3f81, 0x3b80, 0x3f82},
                                     {0x0001, 0x0001, 0x0002},
                                     {0x7f80, 0xff80, 0x7fff}};
    for (const auto& [type, sums] : {std::pair{GDRKIT_SHMEM_TYPE_HALF, halves}, {GDRKIT_SHMEM_TYPE_BFLOAT16, brains}}) {
      std::vector<std::uint16_t> mine, expected;
      for (const Sum& sum : sums) {
        mine.push_back(pe.pe() == 0 ? sum.left : sum.right);
        expected.push_back(sum.sum);
      }
      for (const Way way : {Way::host, Way::stream}) {
        side.write(side.source, bytes_of(mine));
        ASSERT_TRUE(succeeded(side.call(
            {CollectiveOperation::reduce, world, side.target, side.source, mine.size() * 2, 0, type, GDRKIT_SHMEM_SUM},
            way)));
        const Bytes seen = side.read(side.target, mine.size() * 2);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          auto bits = static_cast<unsigned>(seen[2 * i] | seen[2 * i + 1] << 8);
          const unsigned infinity = type == GDRKIT_SHMEM_TYPE_HALF ? 0x7c00 : 0x7f80;
          if ((bits & 0x7fffU) > infinity) bits = 0x7fff;  // any number that is none
          EXPECT_EQ(bits, expected[i]) << "sum " << i << " of type " << type;
        }
      }
    }
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::collective
