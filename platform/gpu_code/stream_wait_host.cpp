// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `stream_wait`.
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/stream_wait_params.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {
namespace {

base::Status check(const StreamWaitParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (shape.blocks * shape.threads != 1)
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'stream_wait': %u blocks of %u threads are too many; use one thread",
                      shape.blocks, shape.threads);
  const int size = parameters.word < 0 ? -parameters.word : parameters.word;
  if ((size != 2 && size != 4 && size != 8) || parameters.comparison > GDRKIT_SHMEM_GE) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'stream_wait': unknown word type or comparison");
  }
  if (parameters.address != 0 && parameters.address % static_cast<unsigned>(size) == 0) return {};
  return base::fail(
      EINVAL, "cannot launch GPU kernel 'stream_wait': invalid address 0x%llx; use a nonzero multiple of %d bytes",
      static_cast<unsigned long long>(parameters.address), size);
}

void play(const StreamWaitParameters& parameters, LaunchShape) noexcept { (void)stream_wait(parameters); }

}  // namespace

base::Status GpuKernels::launch(const StreamWaitParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::stream_wait>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
