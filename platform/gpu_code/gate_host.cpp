// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `gate`.
#include "platform/gpu_code/gate_params.hpp"
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {
namespace {

base::Status check(const GateParameters&, LaunchShape, unsigned) noexcept { return {}; }

void play(const GateParameters& parameters, LaunchShape) noexcept {
  const KernelEnd end =
      wait_for(load_acquire, parameters.flag, parameters.limit_ns, [](std::uint32_t word) { return word != 0; });
  report_end(parameters.end, end == KernelEnd::running ? KernelEnd::finished : end);
}

}  // namespace

base::Status GpuKernels::launch(const GateParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::gate>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
