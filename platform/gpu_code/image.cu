// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// All GPU kernels, for nvcc: one image.
#define GDRKIT_GPU_KERNEL(name, Parameters) static_assert(sizeof(gdrkit::platform::Parameters) % 8 == 0);
#include "platform/gpu_code/burn.cuh"
#include "platform/gpu_code/chase.cuh"
#include "platform/gpu_code/copy.cuh"
#include "platform/gpu_code/gate.cuh"
#include "platform/gpu_code/gpu_kernels.def"
#include "platform/gpu_code/ping_pong.cuh"
