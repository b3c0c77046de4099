// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU code in this program: a fat binary where nvcc was there at build time, and PTX in every build.
#pragma once

#include <cstddef>

namespace gdrkit::platform {

/// A fat binary, or PTX as text that ends with a NUL.
struct GpuImage {
  const void* bytes = nullptr;
  std::size_t size_bytes = 0;  ///< the NUL included; 0: there is none
};

/// Machine code for embedded_gpu_architectures(); empty in a build without nvcc.
[[nodiscard]] GpuImage embedded_fat_binary() noexcept;
/// gpu_kernels.ptx, which the driver compiles for its GPU: compute capability 7.0 and newer.
[[nodiscard]] GpuImage embedded_ptx() noexcept;
/// "compute capabilities 7.5, 9.0"; "" in a build without nvcc.
[[nodiscard]] const char* embedded_gpu_architectures() noexcept;

}  // namespace gdrkit::platform
