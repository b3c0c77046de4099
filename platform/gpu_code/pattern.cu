// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// pattern: writes a rank's contribution to a collective, or compares the result.
#include "platform/gpu_code/pattern_params.hpp"
#include "platform/gpu_code/pattern_value.cuh"

namespace gdrkit::platform {

template <class Word>
__device__ inline void work_on_pattern(const PatternParameters& parameters) {
  auto* words = reinterpret_cast<Word*>(parameters.address);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned long long wrong = 0;
  unsigned long long first_wrong = ~0ULL;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < parameters.count; at += stride) {
    const auto expected = static_cast<Word>(pattern_value(parameters, parameters.first + at));
    if (parameters.found == 0) {
      words[at] = expected;
    } else if (!is_pattern(parameters, words[at], expected)) {
      ++wrong;
      if (at < first_wrong) first_wrong = at;
    }
  }
  if (wrong == 0) return;
  auto* found = reinterpret_cast<unsigned long long*>(parameters.found);
  atomicAdd(found, wrong);
  atomicMin(found + 1, first_wrong);
}

extern "C" __global__ void gdrkit_pattern(const PatternParameters parameters) {
  switch (parameters.element_bytes) {
    case 1: return work_on_pattern<unsigned char>(parameters);
    case 2: return work_on_pattern<unsigned short>(parameters);
    case 4: return work_on_pattern<unsigned>(parameters);
    default: return work_on_pattern<unsigned long long>(parameters);
  }
}

}  // namespace gdrkit::platform
