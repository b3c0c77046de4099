// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Device memory from cuMemAlloc, for every backend that uses CUDA memory.
#pragma once

#include <cstddef>
#include <memory>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// Initializes CUDA if necessary. The buffer holds a reference to the device's primary context, which the CUDA runtime
/// also uses, until it is freed. Its copies use a private stream and do not wait for other work of the device. `cuda`
/// must outlive the buffer.
[[nodiscard]] base::Result<std::unique_ptr<BackendBuffer>> allocate_cuda_buffer(const driver::CudaCalls& cuda,
                                                                                int device,
                                                                                std::size_t size_bytes) noexcept;

}  // namespace gdrkit::backend
