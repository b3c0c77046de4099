// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Queries the kind and extent of the memory of a CUDA pointer, and rejects memory that cannot be mapped.
#pragma once

#include <cstdint>
#include <string>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

struct DeviceRange {
  driver::PointerAttributes attributes;  ///< of the first byte of the request
  std::uint64_t page_address = 0;        ///< the request rounded out to pages
  std::uint64_t page_bytes = 0;
  std::uint64_t valid_start = 0;  ///< the part of the pages inside the allocation, which CUDA may read
  std::uint64_t valid_end = 0;
};

/// Rounds the request out to pages without a query to CUDA; the other members stay empty. EINVAL: the range overflows.
[[nodiscard]] base::Result<DeviceRange> enclosing_pages(const PinRequest& request, std::uint32_t page_size) noexcept;

/// EINVAL: the request ends past its allocation or, if exact_range is false, past the last GPU page of its allocation.
[[nodiscard]] base::Status check_end(const PinRequest& request, std::uint64_t allocation_start,
                                     std::uint64_t allocation_end) noexcept;

/// The PCI address of the memory's GPU in CUDA's format; "" if CUDA does not report it. May throw std::bad_alloc.
[[nodiscard]] std::string pci_of(const driver::CudaCalls& cuda, const DeviceRange& range);

/// Whether a coherent link connects the CPU to the GPU's memory, which it may then cache (Grace with NVLink-C2C).
[[nodiscard]] bool is_coherent(const driver::CudaCalls& cuda, int ordinal) noexcept;

/// Queries CUDA and checks the request. EINVAL: CUDA is not initialized, or the range is not device memory, freed, or
/// past its allocation. EOPNOTSUPP: managed or array memory.
[[nodiscard]] base::Result<DeviceRange> check_pointer(const driver::CudaCalls& cuda, const PinRequest& request,
                                                      std::uint32_t page_size) noexcept;

}  // namespace gdrkit::backend
