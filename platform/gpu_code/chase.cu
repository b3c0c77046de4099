// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// chase: latency of a load, measured by following pointers.
#include "platform/gpu_code/chase_params.hpp"
#include "platform/gpu_code/device_access.cuh"

namespace gdrkit::platform {

/// Relaxed: every load reads from memory or from the L2 cache of the GPU that owns it, never from the L1 cache.
extern "C" __global__ void gdrkit_chase(const ChaseParameters parameters) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  std::uint64_t at = parameters.start;
  const std::uint64_t begin = clock_ns();
  for (std::uint64_t step = 0; step < parameters.steps; ++step) {
    asm volatile("ld.relaxed.sys.global.u64 %0, [%0];" : "+l"(at)::"memory");
  }
  auto* state = reinterpret_cast<ChaseState*>(parameters.state);
  state->last = at;  // depends on every load: they are complete when it is stored
  __threadfence();
  state->elapsed_ns = clock_ns() - begin;
}

}  // namespace gdrkit::platform
