// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/element.hpp"

namespace gdrkit::transfer::engines {

const std::vector<ElementType>& all_element_types() {
  constexpr std::uint32_t wide = 32767;
  static const std::vector<ElementType> all = {
      {"int8", platform::NcclType::int8, 1, 0, 0, 127},
      {"uint8", platform::NcclType::uint8, 1, 0, 0, 255},
      {"int32", platform::NcclType::int32, 4, 0, 0, wide},
      {"uint32", platform::NcclType::uint32, 4, 0, 0, wide},
      {"int64", platform::NcclType::int64, 8, 0, 0, wide},
      {"uint64", platform::NcclType::uint64, 8, 0, 0, wide},
      {"half", platform::NcclType::float16, 2, 10, 15, 2048},
      {"float", platform::NcclType::float32, 4, 23, 127, wide},
      {"double", platform::NcclType::float64, 8, 52, 1023, wide},
      {"bfloat16", platform::NcclType::bfloat16, 2, 7, 127, 256},
      {"f8e4m3", platform::NcclType::float8e4m3, 1, 3, 7, 16},
      {"f8e5m2", platform::NcclType::float8e5m2, 1, 2, 15, 8},
  };
  return all;
}

const ElementType& element_type_of(platform::NcclType type) {
  return all_element_types()[static_cast<std::size_t>(type)];
}

const std::vector<Reduction>& all_reductions() {
  static const std::vector<Reduction> all = {
      {"sum", platform::NcclReduction::sum, platform::PatternKind::sum},
      {"prod", platform::NcclReduction::product, platform::PatternKind::product},
      {"max", platform::NcclReduction::maximum, platform::PatternKind::maximum},
      {"min", platform::NcclReduction::minimum, platform::PatternKind::minimum},
      {"avg", platform::NcclReduction::average, platform::PatternKind::average},
  };
  return all;
}

const Reduction& no_reduction() {
  static const Reduction none = {"none", platform::NcclReduction::sum, platform::PatternKind::bits};
  return none;
}

}  // namespace gdrkit::transfer::engines
