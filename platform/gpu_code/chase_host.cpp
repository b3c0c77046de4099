// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host implementation of the GPU kernel `chase`.
#include "platform/gpu_code/chase_params.hpp"
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {
namespace {

base::Status check(const ChaseParameters&, LaunchShape, unsigned) noexcept { return {}; }

void run_on_host(const ChaseParameters& parameters, LaunchShape) noexcept {
  auto* state = reinterpret_cast<ChaseState*>(parameters.state);
  const std::int64_t begin = now_ns();
  std::uint64_t at = parameters.start;
  for (std::uint64_t step = 0; step < parameters.steps; ++step) at = *reinterpret_cast<volatile std::uint64_t*>(at);
  state->last = at;
  state->elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin);
}

}  // namespace

base::Status GpuKernels::launch(const ChaseParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::chase>(parameters, shape, stream, check, run_on_host);
}

}  // namespace gdrkit::platform
