// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `copy`.
#include <atomic>
#include <cstring>

#include "platform/gpu_code/copy_params.hpp"
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {
namespace {

base::Status check(const CopyParameters& parameters, LaunchShape, unsigned) noexcept {
  if (parameters.target % 16 == 0 && parameters.source % 16 == 0) return {};
  return base::fail(EINVAL, "cannot launch GPU kernel 'copy': the source or target address is not a multiple of 16");
}

void play(const CopyParameters& parameters, LaunchShape) noexcept {
  for (std::uint32_t loop = 0; loop < parameters.loops; ++loop) {
    std::memcpy(reinterpret_cast<void*>(parameters.target), reinterpret_cast<const void*>(parameters.source),
                parameters.size_bytes);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // prevents the compiler from omitting a loop's copy
  }
}

}  // namespace

base::Status GpuKernels::launch(const CopyParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::copy>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
