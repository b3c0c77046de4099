// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Decodes the observed dma-buf exports of libcuda into the memory objects of the exported range.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/rm/memory_piece.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend::rm {

/// The pieces of exactly `size_bytes`, in address order. Only the size in the request word selects the layout. EIO: an
/// unknown size, a failed or missing call, inconsistent counts, or values that overlap or overflow.
[[nodiscard]] base::Result<std::vector<MemoryPiece>> decode_export(const std::vector<driver::ObservedIoctl>& ioctls,
                                                                   std::uint64_t size_bytes) noexcept;

/// Decodes object and offset from an export that the driver rejected. libcuda sends a wrong size for ranges that start
/// inside a block of a pool (observed in 580.159.04). EIO unless exactly one call was observed, the driver rejected its
/// arguments, and its offset is `expected_offset`, which the caller computes from the pointer's attributes.
[[nodiscard]] base::Result<MemoryPiece> decode_rejected_export(const std::vector<driver::ObservedIoctl>& ioctls,
                                                               std::uint64_t expected_offset,
                                                               std::uint64_t size_bytes) noexcept;

}  // namespace gdrkit::backend::rm
