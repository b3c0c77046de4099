// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PointerPin: a pin whose mapping is the device address itself, if the CPU can use it (Grace with NVLink-C2C).
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backend.hpp"
#include "backend/pointer_check.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

/// Whether the CPU can access the pages of `range` at their device addresses. `range` is the result of check_pointer()
/// for `address`. The link to the GPU must be coherent, and CUDA must report this address as the host address. The
/// pages must be readable and belong to one block of CUDA.
[[nodiscard]] bool is_cpu_pointer(const driver::CudaCalls& cuda, std::uint64_t address,
                                  const DeviceRange& range) noexcept;

/// Requires that is_cpu_pointer() is true. The pin holds no resources: the memory and its addresses become invalid when
/// the owner frees it, and unmap removes no mapping. May throw std::bad_alloc.
[[nodiscard]] std::unique_ptr<BackendPin> make_pointer_pin(const driver::CudaCalls& cuda, std::uint64_t address,
                                                           const DeviceRange& range);

}  // namespace gdrkit::backend
