// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU code that this build holds: a fat binary by nvcc, or nothing where there was no nvcc.
#pragma once

#include <cstddef>

namespace gdrkit::platform {

struct GpuImage {
  const void* bytes = nullptr;
  std::size_t size_bytes = 0;  ///< 0: there is none
};

[[nodiscard]] GpuImage embedded_gpu_image() noexcept;
/// "compute capabilities 7.5, 9.0 and, by PTX, newer ones"; "" when there is none.
[[nodiscard]] const char* embedded_gpu_architectures() noexcept;

}  // namespace gdrkit::platform
