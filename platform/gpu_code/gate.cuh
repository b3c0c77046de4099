// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/gpu_code/device_access.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_gate(const GateParameters parameters) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  std::uint32_t seen = 0;
  const bool is_open =
      wait_for(parameters.flag, parameters.limit_ns, &seen, [](std::uint32_t word) { return word != 0; });
  tell_end(parameters.end, is_open ? KernelEnd::finished : KernelEnd::expired);
}

}  // namespace gdrkit::platform
