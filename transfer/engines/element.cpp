// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/element.hpp"

namespace gdrkit::tools::engines {

const std::vector<ElementType>& all_element_types() {
  constexpr std::uint32_t wide = 32767;
  static const std::vector<ElementType> all = {
      {"int8", NcclType::int8, 1, 0, 0, 127},           {"uint8", NcclType::uint8, 1, 0, 0, 255},
      {"int32", NcclType::int32, 4, 0, 0, wide},        {"uint32", NcclType::uint32, 4, 0, 0, wide},
      {"int64", NcclType::int64, 8, 0, 0, wide},        {"uint64", NcclType::uint64, 8, 0, 0, wide},
      {"half", NcclType::float16, 2, 10, 15, 2048},     {"float", NcclType::float32, 4, 23, 127, wide},
      {"double", NcclType::float64, 8, 52, 1023, wide}, {"bfloat16", NcclType::bfloat16, 2, 7, 127, 256},
      {"f8e4m3", NcclType::float8e4m3, 1, 3, 7, 16},    {"f8e5m2", NcclType::float8e5m2, 1, 2, 15, 8},
  };
  return all;
}

const ElementType& element_type_of(NcclType type) { return all_element_types()[static_cast<std::size_t>(type)]; }

const std::vector<Reduction>& all_reductions() {
  static const std::vector<Reduction> all = {
      {"sum", NcclReduction::sum, PatternKind::sum},         {"prod", NcclReduction::product, PatternKind::product},
      {"max", NcclReduction::maximum, PatternKind::maximum}, {"min", NcclReduction::minimum, PatternKind::minimum},
      {"avg", NcclReduction::average, PatternKind::average},
  };
  return all;
}

const Reduction& no_reduction() {
  static const Reduction none = {"none", NcclReduction::sum, PatternKind::bits};
  return none;
}

}  // namespace gdrkit::tools::engines
