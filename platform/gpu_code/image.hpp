// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU code in this program, one image per GPU kernel: PTX in every build, and a fat binary if nvcc was available at
// build time. A program contains only the images that its code refers to.
#pragma once

#include <cstddef>

namespace gdrkit::platform {

/// A fat binary, or NUL-terminated PTX text.
struct GpuImage {
  const void* bytes = nullptr;
  std::size_t size_bytes = 0;  ///< including the NUL; 0: no image
};

/// The images of one GPU kernel.
struct GpuImages {
  GpuImage fat_binary;  ///< machine code for embedded_gpu_architectures(); empty in builds without nvcc
  GpuImage ptx;         ///< compiled by the driver; for compute capability 7.0 and newer
};

#define GDRKIT_GPU_KERNEL(name, Parameters) [[nodiscard]] GpuImages images_of_##name() noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

/// For example "compute capabilities 7.5, 9.x"; "" in builds without nvcc.
[[nodiscard]] const char* embedded_gpu_architectures() noexcept;

}  // namespace gdrkit::platform
