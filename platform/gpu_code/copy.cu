// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// copy: copies 16-byte words with all threads, in loops.
#include "platform/gpu_code/copy_params.hpp"
#include "platform/gpu_code/device_access.cuh"

namespace gdrkit::platform {

/// Issues four 16-byte loads before the first store: one at a time does not saturate a bus.
extern "C" __global__ void gdrkit_copy(const CopyParameters parameters) {
  constexpr unsigned unrolled = 4;
  auto* target = reinterpret_cast<uint4*>(parameters.target);
  const auto* source = reinterpret_cast<const uint4*>(parameters.source);
  const std::uint64_t words = parameters.size_bytes / sizeof(uint4);
  const std::uint64_t place = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint32_t loop = 0; loop < parameters.loops; ++loop) {
    std::uint64_t at = place;
    for (; at + (unrolled - 1) * stride < words; at += unrolled * stride) {
      uint4 values[unrolled];
#pragma unroll
      for (unsigned i = 0; i < unrolled; ++i) values[i] = __ldcv(source + at + i * stride);
#pragma unroll
      for (unsigned i = 0; i < unrolled; ++i) __stcs(target + at + i * stride, values[i]);
    }
    for (; at < words; at += stride) __stcs(target + at, __ldcv(source + at));
    const std::uint64_t whole = words * sizeof(uint4);
    if (whole + place < parameters.size_bytes) {  // up to 15 trailing bytes, one per thread
      const auto* bytes = reinterpret_cast<const volatile unsigned char*>(parameters.source);
      reinterpret_cast<unsigned char*>(parameters.target)[whole + place] = bytes[whole + place];
    }
  }
}

}  // namespace gdrkit::platform
