// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// All GPU kernels, for nvcc: one image.
#define GDRKIT_GPU_KERNEL(name, Parameters) static_assert(sizeof(gdrkit::bench::Parameters) % 8 == 0);
#include "bench/gpu_kernels/burn.cuh"
#include "bench/gpu_kernels/chase.cuh"
#include "bench/gpu_kernels/copy.cuh"
#include "bench/gpu_kernels/gate.cuh"
#include "bench/gpu_kernels/gpu_kernels.def"
#include "bench/gpu_kernels/ping_pong.cuh"
