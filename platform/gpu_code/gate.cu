// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gate: blocks its stream until the CPU opens it.
#include "platform/gpu_code/device_access.cuh"
#include "platform/gpu_code/gate_params.hpp"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_gate(const GateParameters parameters) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  // acquire: later work in the stream may read what the CPU wrote before it opened the gate
  const KernelEnd end =
      wait_for(load_acquire, parameters.flag, parameters.limit_ns, [](std::uint32_t word) { return word != 0; });
  report_end(parameters.end, end == KernelEnd::running ? KernelEnd::finished : end);
}

}  // namespace gdrkit::platform
