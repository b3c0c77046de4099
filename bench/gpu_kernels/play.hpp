// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU kernels' parts, played by a host thread on the emulated device: the same parameters, bounds and results.
#pragma once

#include "bench/gpu_kernels/parameters.hpp"
#include "shim/device.hpp"

namespace gdrkit::bench {

#define GDRKIT_GPU_KERNEL(name, Parameters) \
  void play_##name(const Parameters& parameters, shim::LaunchShape shape) noexcept;
#include "bench/gpu_kernels/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

}  // namespace gdrkit::bench
