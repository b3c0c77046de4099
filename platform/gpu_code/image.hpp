// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU code in this program, an image for each GPU kernel: a fat binary if nvcc was available at build time, and PTX
// in every build. A program contains the images to which its code refers.
#pragma once

#include <cstddef>

namespace gdrkit::platform {

/// A fat binary, or PTX as text that ends with a NUL.
struct GpuImage {
  const void* bytes = nullptr;
  std::size_t size_bytes = 0;  ///< including the NUL; 0: none
};

/// Of one GPU kernel.
struct GpuImages {
  GpuImage fat_binary;  ///< machine code for embedded_gpu_architectures(); empty in a build without nvcc
  GpuImage ptx;         ///< compiled by the driver for its GPU: compute capability 7.0 and newer
};

#define GDRKIT_GPU_KERNEL(name, Parameters) [[nodiscard]] GpuImages images_of_##name() noexcept;
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

/// "compute capabilities 7.5, 9.x"; "" in a build without nvcc.
[[nodiscard]] const char* embedded_gpu_architectures() noexcept;

}  // namespace gdrkit::platform
