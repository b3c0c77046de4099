// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// stream_value: a put in a stream of data that is passed with the launch.
#include "platform/gpu_code/stream_params.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_stream_value(const StreamValueParameters parameters) {
  for (unsigned at = threadIdx.x * 8; at < parameters.size_bytes; at += blockDim.x * 8) {
    const auto left = static_cast<unsigned>(parameters.size_bytes) - at;
    store_bytes(parameters.target + at, parameters.words[at / 8], left < 8 ? left : 8);
  }
}

}  // namespace gdrkit::platform
