// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// stream_wait: holds a stream until a word of the own heap compares as asked.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(stream_wait, StreamWaitParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// One thread waits, at most as long as the state allows, and tells the state's control when it gave up. The driver's
/// wait (cuStreamWaitValue) has no limit: a dead PE would hold the stream for ever.
struct StreamWaitParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t address;
  std::uint64_t value;
  std::int32_t word;         ///< gdrkit_shmem_word
  std::uint32_t comparison;  ///< gdrkit_shmem_comparison
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_stream_wait(const StreamWaitParameters parameters) { (void)stream_wait(parameters); }

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

base::Status check(const StreamWaitParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (shape.blocks * shape.threads != 1) return base::fail(EINVAL, "stream_wait: one thread waits");
  const int size = parameters.word < 0 ? -parameters.word : parameters.word;
  if ((size != 2 && size != 4 && size != 8) || parameters.comparison > GDRKIT_SHMEM_GE) {
    return base::fail(EINVAL, "stream_wait: there is no such word or comparison");
  }
  if (parameters.address != 0 && parameters.address % static_cast<unsigned>(size) == 0) return {};
  return base::fail(EINVAL, "stream_wait: 0x%llx is no naturally aligned word of %d bytes",
                    static_cast<unsigned long long>(parameters.address), size);
}

void play(const StreamWaitParameters& parameters, LaunchShape) noexcept { (void)stream_wait(parameters); }

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
