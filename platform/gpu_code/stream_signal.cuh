// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// stream_signal: updates a signal behind all earlier work of its stream.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(stream_signal, StreamSignal)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

/// By one thread.
struct StreamSignal {
  std::uint64_t address = 0;  ///< of a 64-bit word, as this GPU reaches it; 0: none, for whoever launches
  std::uint64_t value = 0;
  std::uint32_t operation = GDRKIT_SHMEM_SIGNAL_SET;  ///< gdrkit_shmem_signal
  std::uint32_t unused = 0;
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_stream_signal(const StreamSignal signal) { update_signal(signal); }

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

base::Status check(const StreamSignal& signal, LaunchShape shape, unsigned) noexcept {
  if (shape.blocks * shape.threads != 1) return base::fail(EINVAL, "stream_signal: one thread signals");
  if (signal.address == 0 || signal.address % sizeof(std::uint64_t) != 0) {
    return base::fail(EINVAL, "stream_signal: 0x%llx is not aligned to the 8 bytes of a signal",
                      static_cast<unsigned long long>(signal.address));
  }
  if (signal.operation == GDRKIT_SHMEM_SIGNAL_SET || signal.operation == GDRKIT_SHMEM_SIGNAL_ADD) return {};
  return base::fail(EINVAL, "stream_signal: there is no signal operation %u", signal.operation);
}

void play(const StreamSignal& signal, LaunchShape) noexcept { update_signal(signal); }

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
