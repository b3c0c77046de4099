// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Finds out what a CUDA pointer is and how far its memory reaches; refuses what cannot be mapped.
#pragma once

#include <cstdint>
#include <string>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

struct DeviceRange {
  driver::PointerAttributes attributes;  ///< of the request's first byte
  std::uint64_t page_address = 0;        ///< the request rounded out to pages
  std::uint64_t page_bytes = 0;
  std::uint64_t valid_start = 0;  ///< the part of the pages that belongs to the allocation: CUDA may read it
  std::uint64_t valid_end = 0;
};

/// The request rounded out to pages without asking CUDA: the rest of the range stays empty. EINVAL where it
/// overflows.
[[nodiscard]] base::Result<DeviceRange> enclosing_pages(const PinRequest& request, std::uint32_t page_size) noexcept;

/// EINVAL where the request ends past its allocation, or past that one's last page of a GPU where exact_range is false.
[[nodiscard]] base::Status check_end(const PinRequest& request, std::uint64_t allocation_start,
                                     std::uint64_t allocation_end) noexcept;

/// PCI address of the memory's GPU, as CUDA writes it; "" if CUDA does not report it. May throw std::bad_alloc.
[[nodiscard]] std::string pci_of(const driver::CudaCalls& cuda, const DeviceRange& range);

/// Whether the CPU reaches the GPU's memory over a coherent link and may cache it (Grace with NVLink-C2C).
[[nodiscard]] bool is_coherent(const driver::CudaCalls& cuda, int ordinal) noexcept;

/// EINVAL: CUDA not initialised, not device memory, freed, past the end. EOPNOTSUPP: managed or array memory.
[[nodiscard]] base::Result<DeviceRange> check_pointer(const driver::CudaCalls& cuda, const PinRequest& request,
                                                      std::uint32_t page_size) noexcept;

}  // namespace gdrkit::backend
