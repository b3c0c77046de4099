// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of each GPU kernel: the check of its parameters, and its work by a host thread on the emulated
// device.
#pragma once

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"

namespace gdrkit::platform {

/// check: EINVAL for what the GPU kernel does not take; `resident_blocks` is GpuKernels::resident_blocks().
/// play: the same results, bounds and ends as the GPU's part.
#define GDRKIT_GPU_KERNEL(name, Parameters)                                                               \
  base::Status check(const Parameters& parameters, LaunchShape shape, unsigned resident_blocks) noexcept; \
  void play(const Parameters& parameters, LaunchShape shape) noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

}  // namespace gdrkit::platform
