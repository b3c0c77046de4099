// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// stream_copy: a put or get between GPUs in a stream, and a signal behind it.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(stream_copy, StreamCopyParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <cstdint>

#include "platform/gpu_code/stream_signal.hpp"

namespace gdrkit::platform {

/// Copies with all threads of all blocks, then signals. A signal needs one block.
struct StreamCopyParameters {
  std::uint64_t target;
  std::uint64_t source;
  std::uint64_t size_bytes;  ///< 0: only the signal
  StreamSignal signal;
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/stream_work.hpp"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_stream_copy(const StreamCopyParameters parameters) {
  // fresh: the source may be another GPU's memory
  shmem::detail::copy<shmem::detail::Reads::fresh>(reinterpret_cast<char*>(parameters.target),
                                                   reinterpret_cast<const char*>(parameters.source),
                                                   parameters.size_bytes, GridGroup());
  stream_signal(parameters.signal, shmem::block());
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/stream_work.hpp"

namespace gdrkit::platform {

/// `blocks`: of the GPU kernel `name`.
inline base::Status check_signal(const StreamSignal& signal, unsigned blocks, const char* name) noexcept {
  if (signal.address == 0) return {};
  if (blocks != 1) return base::fail(EINVAL, "%s: %u blocks where a signal needs one", name, blocks);
  if (signal.address % sizeof(std::uint64_t) != 0) {
    return base::fail(EINVAL, "%s: 0x%llx is not aligned to the 8 bytes of a signal", name,
                      static_cast<unsigned long long>(signal.address));
  }
  if (signal.operation == GDRKIT_SHMEM_SIGNAL_SET || signal.operation == GDRKIT_SHMEM_SIGNAL_ADD) return {};
  return base::fail(EINVAL, "%s: there is no signal operation %u", name, signal.operation);
}

base::Status check(const StreamCopyParameters& parameters, LaunchShape shape, unsigned) noexcept {
  return check_signal(parameters.signal, shape.blocks, "stream_copy");
}

void play(const StreamCopyParameters& parameters, LaunchShape) noexcept {
  shmem::detail::fence_system();  // the emulated device's order between a stream and what the CPU did before
  shmem::detail::copy<shmem::detail::Reads::fresh>(reinterpret_cast<char*>(parameters.target),
                                                   reinterpret_cast<const char*>(parameters.source),
                                                   parameters.size_bytes, GridGroup());
  stream_signal(parameters.signal, shmem::thread());
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
