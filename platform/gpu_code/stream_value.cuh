// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// stream_value: a put in a stream of data that travels with the launch.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(stream_value, StreamValueParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <cstdint>

namespace gdrkit::platform {

/// One block stores the data.
struct StreamValueParameters {
  static constexpr unsigned most_words = 128;
  std::uint64_t target;  ///< any alignment
  std::uint64_t size_bytes;
  std::uint64_t words[most_words];
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_stream_value(const StreamValueParameters parameters) {
  for (unsigned at = threadIdx.x * 8; at < parameters.size_bytes; at += blockDim.x * 8) {
    const auto left = static_cast<unsigned>(parameters.size_bytes) - at;
    store_bytes(parameters.target + at, parameters.words[at / 8], left < 8 ? left : 8);
  }
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

base::Status check(const StreamValueParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (shape.blocks != 1) return base::fail(EINVAL, "stream_value: %u blocks where one is needed", shape.blocks);
  if (parameters.size_bytes <= sizeof parameters.words) return {};
  return base::fail(EINVAL, "stream_value: %llu bytes exceed the %zu that a launch holds",
                    static_cast<unsigned long long>(parameters.size_bytes), sizeof parameters.words);
}

void play(const StreamValueParameters& parameters, LaunchShape) noexcept {
  for (unsigned at = 0; at < parameters.size_bytes; at += 8) {
    const auto left = static_cast<unsigned>(parameters.size_bytes) - at;
    store_bytes(parameters.target + at, parameters.words[at / 8], left < 8 ? left : 8);
  }
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
