// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU kernels' parts, played by a host thread on the emulated device: the same parameters, bounds and results.
#pragma once

#include "platform/device/device.hpp"
#include "platform/gpu_code/parameters.hpp"

namespace gdrkit::platform {

#define GDRKIT_GPU_KERNEL(name, Parameters) void play_##name(const Parameters& parameters, LaunchShape shape) noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

}  // namespace gdrkit::platform
