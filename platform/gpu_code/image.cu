// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU kernel of the file GDRKIT_GPU_FILE, for nvcc: an image of its own.
#define GDRKIT_GPU_PARAMETERS
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_PARAMETERS

#define GDRKIT_GPU_KERNEL(name, Parameters) static_assert(sizeof(gdrkit::platform::Parameters) % 8 == 0);
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

#define GDRKIT_GPU_PART
#include GDRKIT_GPU_FILE
