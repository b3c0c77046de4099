// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gate: holds its stream until the CPU opens it.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(gate, GateParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <cstdint>

namespace gdrkit::platform {

/// Holds its stream until `flag` is not zero.
struct GateParameters {
  std::uint64_t flag;  ///< a 32-bit word that the CPU writes, in mapped host memory
  std::uint64_t end;   ///< KernelEnd
  std::uint64_t limit_ns;
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/device_access.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_gate(const GateParameters parameters) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  // acquire: what follows in the stream may read what the CPU wrote before it opened the gate
  const KernelEnd end =
      wait_for(load_acquire, parameters.flag, parameters.limit_ns, [](std::uint32_t word) { return word != 0; });
  tell_end(parameters.end, end == KernelEnd::running ? KernelEnd::finished : end);
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {

base::Status check(const GateParameters&, LaunchShape, unsigned) noexcept { return {}; }

void play(const GateParameters& parameters, LaunchShape) noexcept {
  const KernelEnd end =
      wait_for(load_acquire, parameters.flag, parameters.limit_ns, [](std::uint32_t word) { return word != 0; });
  tell_end(parameters.end, end == KernelEnd::running ? KernelEnd::finished : end);
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
