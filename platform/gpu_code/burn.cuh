// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// burn: keeps multiprocessors and memory busy until it is stopped.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(burn, BurnParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <cstdint>

namespace gdrkit::platform {

/// Reads and writes all of `scratch`, multiplies and adds, again and again until `stop` is not zero. Every block works
/// on; the end is told by the first.
struct BurnParameters {
  std::uint64_t stop;           ///< a 32-bit word that the CPU writes, in mapped host memory
  std::uint64_t end;            ///< KernelEnd
  std::uint64_t scratch;        ///< a multiple of 16
  std::uint64_t scratch_bytes;  ///< a multiple of 16
  std::uint64_t passes;         ///< a 64-bit word in device memory: how often the first block went through its share
  std::uint64_t limit_ns;
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
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
  tell_end(parameters.end, end);
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include <sched.h>

#include <atomic>
#include <cstddef>

#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {

base::Status check(const BurnParameters& parameters, LaunchShape, unsigned) noexcept {
  if (parameters.scratch % 16 == 0 && parameters.scratch_bytes % 16 == 0 && parameters.scratch_bytes != 0) return {};
  return base::fail(EINVAL, "burn: scratch memory must be multiples of 16, and not nothing");
}

void play(const BurnParameters& parameters, LaunchShape) noexcept {
  constexpr std::size_t chunk_bytes = 65536;
  const std::int64_t begin = now_ns();
  auto* scratch = reinterpret_cast<volatile float*>(parameters.scratch);
  const std::size_t floats = parameters.scratch_bytes / sizeof(float);
  std::uint64_t passes = 0;
  std::size_t at = 0;
  KernelEnd end = KernelEnd::running;
  while (end == KernelEnd::running) {
    for (std::size_t i = 0; i < chunk_bytes / sizeof(float) && at < floats; ++i, ++at) {
      scratch[at] = scratch[at] * 0.999F + 1.0F;
    }
    if (at >= floats) {
      at = 0;
      ++passes;
    }
    if (load_acquire(parameters.stop) != 0) {
      end = KernelEnd::stopped;
    } else if (now_ns() - begin > static_cast<std::int64_t>(parameters.limit_ns)) {
      end = KernelEnd::expired;
    }
    ::sched_yield();
  }
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(parameters.passes)).store(passes, std::memory_order_relaxed);
  tell_end(parameters.end, end);
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
