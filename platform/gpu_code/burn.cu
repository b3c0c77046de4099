// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// burn: keeps multiprocessors and memory busy until it is stopped.
#include "platform/gpu_code/burn_params.hpp"
#include "platform/gpu_code/device_access.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_burn(const BurnParameters parameters) {
  __shared__ KernelEnd shared_end;
  auto* scratch = reinterpret_cast<float4*>(parameters.scratch);
  const std::uint64_t count = parameters.scratch_bytes / sizeof(float4);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t begin = clock_ns();
  std::uint64_t passes = 0;
  std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  KernelEnd end = KernelEnd::running;
  while (end == KernelEnd::running) {
    for (unsigned i = 0; i < 256 && at < count; ++i, at += stride) {
      float4 value = scratch[at];
      value.x = fmaf(value.x, 0.999F, 1.0F);
      value.y = fmaf(value.y, 0.999F, value.x);
      value.z = fmaf(value.z, 0.999F, value.y);
      value.w = fmaf(value.w, 0.999F, value.z);
      scratch[at] = value;
    }
    if (threadIdx.x == 0) {
      shared_end = KernelEnd::running;
      if (load_relaxed(parameters.stop) != 0) shared_end = KernelEnd::stopped;
      if (shared_end == KernelEnd::running && clock_ns() - begin > parameters.limit_ns) shared_end = KernelEnd::expired;
      if (at >= count) ++passes;
    }
    if (at >= count) at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __syncthreads();
    end = shared_end;
    __syncthreads();
  }
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  *reinterpret_cast<std::uint64_t*>(parameters.passes) = passes;
  report_end(parameters.end, end);
}

}  // namespace gdrkit::platform
