// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// chase: latency of a load, by following pointers.
#include "platform/gpu_code/chase_params.hpp"
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
  state->last = at;  // depends on every load: once it is stored, they are complete
  __threadfence();
  state->elapsed_ns = clock_ns() - begin;
}

}  // namespace gdrkit::platform
