// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// All GPU kernels, for nvcc: one image.
#define GDRKIT_GPU_PARAMETERS
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_PARAMETERS

#define GDRKIT_GPU_KERNEL(name, Parameters) static_assert(sizeof(gdrkit::platform::Parameters) % 8 == 0);
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

#define GDRKIT_GPU_PART
#include "platform/gpu_code/gpu_kernels.def"
