// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// pattern: writes what one rank contributes to a collective, or compares what came out of it.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(pattern, PatternParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <cstdint>

namespace gdrkit::platform {

/// How the ranks' elements are combined; bits: they are not, and each rank's are random.
enum class PatternKind : std::uint32_t { bits, sum, product, minimum, maximum, average };

/// In device memory, before the launch: wrong 0, first_wrong ~0. Several launches in one stream may count into one.
struct PatternFound {
  std::uint64_t wrong;        ///< elements
  std::uint64_t first_wrong;  ///< the least number of a wrong element, counted from PatternParameters::address
};

/// `count` elements from number `first` on. pattern_value.cuh says what each holds.
struct PatternParameters {
  std::uint64_t address;  ///< a multiple of element_bytes
  std::uint64_t count;
  std::uint64_t first;
  std::uint64_t seed;
  std::uint64_t found;  ///< PatternFound: compares; 0: writes
  PatternKind kind;
  std::uint32_t rank;
  std::uint32_t ranks;
  std::uint32_t is_combined;    ///< 1: the combination of all ranks' elements, not one rank's
  std::uint32_t element_bytes;  ///< 1, 2, 4 or 8
  std::uint32_t mantissa_bits;  ///< of a float, without the leading one; 0: a whole number
  std::uint32_t exponent_bias;
  std::uint32_t largest;    ///< whole numbers from 0 to this fit the type exactly; at least 1
  std::uint32_t tolerance;  ///< of the bits' distance; for averages that are rounded
  std::uint32_t unused;
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
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

#elif defined(GDRKIT_HOST_PART)
#include <algorithm>
#include <cstring>

#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/pattern_value.cuh"

namespace gdrkit::platform {

base::Status check(const PatternParameters& parameters, LaunchShape, unsigned) noexcept {
  const std::uint32_t bytes = parameters.element_bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
    return base::fail(EINVAL, "pattern: an element has 1, 2, 4 or 8 bytes, not %u", bytes);
  }
  if (parameters.address % bytes != 0 || parameters.found % sizeof(std::uint64_t) != 0) {
    return base::fail(EINVAL, "pattern: 0x%llx is no naturally aligned element, or the counters are not aligned",
                      static_cast<unsigned long long>(parameters.address));
  }
  if (parameters.ranks == 0 || parameters.rank >= parameters.ranks || parameters.largest == 0) {
    return base::fail(EINVAL, "pattern: rank %u of %u, whole numbers to %u", parameters.rank, parameters.ranks,
                      parameters.largest);
  }
  if (parameters.kind > PatternKind::average) return base::fail(EINVAL, "pattern: there is no such kind");
  return {};
}

template <class Word>
static void work_on_pattern(const PatternParameters& parameters) noexcept {
  auto* words = reinterpret_cast<Word*>(parameters.address);
  auto* found = reinterpret_cast<PatternFound*>(parameters.found);
  for (std::uint64_t at = 0; at < parameters.count; ++at) {
    const auto expected = static_cast<Word>(pattern_value(parameters, parameters.first + at));
    if (found == nullptr) {
      words[at] = expected;
    } else if (!is_pattern(parameters, words[at], expected)) {
      found->wrong += 1;
      found->first_wrong = std::min<std::uint64_t>(found->first_wrong, at);
    }
  }
}

void play(const PatternParameters& parameters, LaunchShape) noexcept {
  switch (parameters.element_bytes) {
    case 1: return work_on_pattern<std::uint8_t>(parameters);
    case 2: return work_on_pattern<std::uint16_t>(parameters);
    case 4: return work_on_pattern<std::uint32_t>(parameters);
    default: return work_on_pattern<std::uint64_t>(parameters);
  }
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
