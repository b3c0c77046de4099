// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `burn`.
#include <sched.h>

#include <atomic>
#include <cstddef>

#include "platform/gpu_code/burn_params.hpp"
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {
namespace {

base::Status check(const BurnParameters& parameters, LaunchShape, unsigned) noexcept {
  if (parameters.scratch % 16 == 0 && parameters.scratch_bytes % 16 == 0 && parameters.scratch_bytes != 0) return {};
  return base::fail(EINVAL,
                    "cannot launch GPU kernel 'burn': invalid address or size of the scratch memory; use nonzero "
                    "multiples of 16 bytes");
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
  report_end(parameters.end, end);
}

}  // namespace

base::Status GpuKernels::launch(const BurnParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::burn>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
