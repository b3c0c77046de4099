// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `stream_value`.
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/stream_value_params.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {
namespace {

base::Status check(const StreamValueParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (shape.blocks != 1)
    return base::fail(EINVAL, "cannot launch GPU kernel 'stream_value': %u blocks are too many; use one block",
                      shape.blocks);
  if (parameters.size_bytes <= sizeof parameters.words) return {};
  return base::fail(EINVAL, "cannot launch GPU kernel 'stream_value': %llu bytes are too many; use at most %zu bytes",
                    static_cast<unsigned long long>(parameters.size_bytes), sizeof parameters.words);
}

void play(const StreamValueParameters& parameters, LaunchShape) noexcept {
  for (unsigned at = 0; at < parameters.size_bytes; at += 8) {
    const auto left = static_cast<unsigned>(parameters.size_bytes) - at;
    store_bytes(parameters.target + at, parameters.words[at / 8], left < 8 ? left : 8);
  }
}

}  // namespace

base::Status GpuKernels::launch(const StreamValueParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::stream_value>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
