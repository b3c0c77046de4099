// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/pattern_params.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(pattern, PatternParameters);

struct ElementType {
  const char* name;
  std::uint32_t bytes;
  std::uint32_t mantissa_bits;
  std::uint32_t exponent_bias;
  std::uint32_t largest;
};
constexpr ElementType element_types[] = {
    {"int8", 1, 0, 0, 127},       {"uint8", 1, 0, 0, 255},        {"int32", 4, 0, 0, 32767},
    {"int64", 8, 0, 0, 32767},    {"half", 2, 10, 15, 2048},      {"bfloat16", 2, 7, 127, 256},
    {"float", 4, 23, 127, 32767}, {"double", 8, 52, 1023, 32767}, {"f8e4m3", 1, 3, 7, 16},
    {"f8e5m2", 1, 2, 15, 8},
};
constexpr PatternKind reductions[] = {PatternKind::sum, PatternKind::product, PatternKind::minimum,
                                      PatternKind::maximum, PatternKind::average};

/// Decodes an element's bits, independently of the encoder that made them.
double decoded(const ElementType& type, std::uint64_t bits) {
  if (type.mantissa_bits == 0) return static_cast<double>(bits);
  const double fraction =
      static_cast<double>(bits & ((1ULL << type.mantissa_bits) - 1)) / std::exp2(type.mantissa_bits);
  const int exponent = static_cast<int>(bits >> type.mantissa_bits);
  const int bias = static_cast<int>(type.exponent_bias);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

double combined(PatternKind kind, const std::vector<double>& parts) {
  double value = parts[0];
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    if (kind == PatternKind::product) value *= parts[rank];
    if (kind == PatternKind::minimum) value = std::min(value, parts[rank]);
    if (kind == PatternKind::maximum) value = std::max(value, parts[rank]);
    if (kind == PatternKind::sum || kind == PatternKind::average) value += parts[rank];
  }
  return kind == PatternKind::average ? value / static_cast<double>(parts.size()) : value;
}

class PatternConformance : public GpuKernelConformance {
 protected:
  static constexpr std::size_t count = 1000;
  static constexpr LaunchShape shape = {2, 64};

  static PatternParameters parameters_for(const ElementType& type, PatternKind kind, std::uint32_t ranks) {
    PatternParameters parameters{};
    parameters.count = count;
    parameters.first = 77;
    parameters.seed = 5;
    parameters.kind = kind;
    parameters.ranks = ranks;
    parameters.element_bytes = type.bytes;
    parameters.mantissa_bits = type.mantissa_bits;
    parameters.exponent_bias = type.exponent_bias;
    parameters.largest = type.largest;
    return parameters;
  }

  /// Returns the bits of each element that the GPU kernel writes.
  std::vector<std::uint64_t> written(PatternParameters parameters) {
    if (memory_ == 0) memory_ = device_memory(count * 8);
    parameters.address = memory_;
    run(parameters, shape);
    const auto bytes = read_bytes(memory_, count * parameters.element_bytes);
    std::vector<std::uint64_t> elements(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&elements[i], bytes.data() + i * parameters.element_bytes, parameters.element_bytes);
    }
    return elements;
  }

  PatternFound compare(PatternParameters parameters) {
    const PatternFound none{0, ~0ULL};
    const std::uint64_t found = device_memory(sizeof(PatternFound));
    EXPECT_TRUE(device_->copy_to_device(found, &none, sizeof none));
    parameters.found = found;
    run(parameters, shape);
    return read<PatternFound>(found);
  }

  std::uint64_t memory_ = 0;
};

TEST_F(PatternConformance, RanksCombineToTheExpectedValueInEveryType) {
  for (const ElementType& type : element_types) {
    for (const PatternKind kind : reductions) {
      for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
        SCOPED_TRACE(std::string(type.name) + ", kind " + std::to_string(static_cast<int>(kind)) + ", " +
                     std::to_string(ranks) + " ranks");
        PatternParameters parameters = parameters_for(type, kind, ranks);
        std::vector<std::vector<double>> parts(count);
        for (parameters.rank = 0; parameters.rank < ranks; ++parameters.rank) {
          const auto elements = written(parameters);
          for (std::size_t i = 0; i < count; ++i) parts[i].push_back(decoded(type, elements[i]));
        }
        parameters.rank = 0;
        parameters.is_combined = 1;
        const auto elements = written(parameters);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(decoded(type, elements[i]), combined(kind, parts[i])) << i;
          ASSERT_LE(decoded(type, elements[i]), std::max(type.largest, 64U)) << i;
        }
        const auto [least, most] = std::minmax_element(elements.begin(), elements.end());
        EXPECT_TRUE(type.largest < 2 * ranks || *least != *most) << "the pattern is constant";
      }
    }
  }
}

TEST_F(PatternConformance, EachRankHasADifferentPattern) {
  PatternParameters parameters = parameters_for(element_types[3], PatternKind::bits, 2);
  const auto first = written(parameters);
  parameters.rank = 1;
  EXPECT_NE(written(parameters), first);
  parameters.rank = 0;
  parameters.first += 1;
  const auto shifted = written(parameters);
  EXPECT_TRUE(std::equal(first.begin() + 1, first.end(), shifted.begin()));
}

TEST_F(PatternConformance, CountsWrongElementsAndReportsTheFirst) {
  for (const ElementType& type : element_types) {
    SCOPED_TRACE(type.name);
    PatternParameters parameters = parameters_for(type, PatternKind::bits, 1);
    (void)written(parameters);
    parameters.address = memory_;
    EXPECT_EQ(compare(parameters).wrong, 0U);
    for (const std::size_t at : {999U, 500U, 501U}) {  // one bit each
      auto byte = read<std::uint8_t>(memory_ + at * type.bytes);
      byte ^= 0x10;
      ASSERT_TRUE(device_->copy_to_device(memory_ + at * type.bytes, &byte, 1));
    }
    const PatternFound found = compare(parameters);
    EXPECT_EQ(found.wrong, 3U);
    EXPECT_EQ(found.first_wrong, 500U);
  }
}

TEST_F(PatternConformance, ToleratesNoMoreThanItsParameter) {
  const ElementType& type = element_types[6];  // float
  PatternParameters parameters = parameters_for(type, PatternKind::average, 3);
  parameters.is_combined = 1;
  auto elements = written(parameters);
  parameters.address = memory_;
  parameters.tolerance = 2;
  for (const std::uint32_t off : {2U, 3U}) {
    const auto word = static_cast<std::uint32_t>(elements[10]) + off;
    ASSERT_TRUE(device_->copy_to_device(memory_ + 40, &word, sizeof word));
    EXPECT_EQ(compare(parameters).wrong, off == 2 ? 0U : 1U);
  }
}

TEST_F(PatternConformance, RejectsInvalidParameters) {
  PatternParameters good = parameters_for(element_types[2], PatternKind::sum, 2);
  good.address = device_memory(64);
  good.count = 1;
  run(good, shape);
  EXPECT_TRUE(rejects(good, shape, [](auto& made) { made.element_bytes = 3; }));
  EXPECT_TRUE(rejects(good, shape, [](auto& made) { made.address += 2; }));
  EXPECT_TRUE(rejects(good, shape, [](auto& made) { made.rank = 2; }));
  EXPECT_TRUE(rejects(good, shape, [](auto& made) { made.ranks = 0; }));
  EXPECT_TRUE(rejects(good, shape, [](auto& made) { made.largest = 0; }));
  EXPECT_TRUE(rejects(good, shape, [](auto& made) { made.found = 4; }));
  EXPECT_TRUE(rejects(good, shape, [](auto& made) { made.kind = static_cast<PatternKind>(6); }));
}

}  // namespace
}  // namespace gdrkit::platform
