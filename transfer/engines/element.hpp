// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ElementType and Reduction: the values of -d and -o.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/pattern_params.hpp"
#include "platform/vendor/nccl_library.hpp"

namespace gdrkit::transfer::engines {

struct ElementType {
  const char* name;
  platform::NcclType nccl;
  std::uint32_t size_bytes;
  std::uint32_t mantissa_bits;  ///< 0: an integer type
  std::uint32_t exponent_bias;
  std::uint32_t largest;  ///< integers from 0 to this are exact
};

struct Reduction {
  const char* name;
  platform::NcclReduction nccl;
  platform::PatternKind pattern;
};

[[nodiscard]] const std::vector<ElementType>& all_element_types();
[[nodiscard]] const ElementType& element_type_of(platform::NcclType type);
[[nodiscard]] const std::vector<Reduction>& all_reductions();
/// For a collective that does not reduce.
[[nodiscard]] const Reduction& no_reduction();

}  // namespace gdrkit::transfer::engines
