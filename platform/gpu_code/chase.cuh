// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// chase: latency of a load, by following pointers.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(chase, ChaseParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <cstdint>

namespace gdrkit::platform {

/// What chase found.
struct ChaseState {
  std::uint64_t last;        ///< address reached
  std::uint64_t elapsed_ns;  ///< by the GPU's clock
};

/// Follows pointers, one load after the other: each word at an address is the next address. One thread does it.
struct ChaseParameters {
  std::uint64_t start;
  std::uint64_t steps;
  std::uint64_t state;  ///< ChaseState
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/device_access.cuh"

namespace gdrkit::platform {

/// Relaxed: every load goes to the memory, or to the cache of the GPU that owns it; never to the L1 cache.
extern "C" __global__ void gdrkit_chase(const ChaseParameters parameters) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  std::uint64_t at = parameters.start;
  const std::uint64_t begin = clock_ns();
  for (std::uint64_t step = 0; step < parameters.steps; ++step) {
    asm volatile("ld.relaxed.sys.global.u64 %0, [%0];" : "+l"(at)::"memory");
  }
  auto* state = reinterpret_cast<ChaseState*>(parameters.state);
  state->last = at;  // depends on every load: when it is stored, they are done
  __threadfence();
  state->elapsed_ns = clock_ns() - begin;
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {

base::Status check(const ChaseParameters&, LaunchShape, unsigned) noexcept { return {}; }

void play(const ChaseParameters& parameters, LaunchShape) noexcept {
  auto* state = reinterpret_cast<ChaseState*>(parameters.state);
  const std::int64_t begin = now_ns();
  std::uint64_t at = parameters.start;
  for (std::uint64_t step = 0; step < parameters.steps; ++step) at = *reinterpret_cast<volatile std::uint64_t*>(at);
  state->last = at;
  state->elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin);
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
