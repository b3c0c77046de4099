// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `stream_signal`.
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/stream_signal_params.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {
namespace {

base::Status check(const StreamSignal& signal, LaunchShape shape, unsigned) noexcept {
  if (shape.blocks * shape.threads != 1)
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'stream_signal': %u blocks of %u threads are too many; use one thread",
                      shape.blocks, shape.threads);
  if (signal.address == 0 || signal.address % sizeof(std::uint64_t) != 0) {
    return base::fail(
        EINVAL, "cannot launch GPU kernel 'stream_signal': invalid address 0x%llx; use a nonzero multiple of 8 bytes",
        static_cast<unsigned long long>(signal.address));
  }
  if (signal.operation == GDRKIT_SHMEM_SIGNAL_SET || signal.operation == GDRKIT_SHMEM_SIGNAL_ADD) return {};
  return base::fail(EINVAL, "cannot launch GPU kernel 'stream_signal': unknown signal operation %u", signal.operation);
}

void play(const StreamSignal& signal, LaunchShape) noexcept { update_signal(signal); }

}  // namespace

base::Status GpuKernels::launch(const StreamSignal& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::stream_signal>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
