// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Decodes the dma-buf exports that libcuda issued into the memory objects of the exported range.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/rm/memory_piece.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend::rm {

/// The pieces, in address order, of exactly `size_bytes`. The request word's size alone selects the layout; any other
/// size, a failed or missing call, counts that do not add up, overlapping or overflowing values are EIO (nothing is
/// guessed).
[[nodiscard]] base::Result<std::vector<MemoryPiece>> decode_export(const std::vector<driver::ObservedIoctl>& ioctls,
                                                                   std::uint64_t size_bytes) noexcept;

/// The object and offset of a range that the driver refused to export although libcuda named them: for ranges that
/// start inside a pool's block libcuda sends a wrong size (seen in 580.159.04). Believed only if the one call seen was
/// refused for its arguments and its offset is `expected_offset`, which the caller has from the pointer's attributes.
[[nodiscard]] base::Result<MemoryPiece> decode_refused_export(const std::vector<driver::ObservedIoctl>& ioctls,
                                                              std::uint64_t expected_offset,
                                                              std::uint64_t size_bytes) noexcept;

}  // namespace gdrkit::backend::rm
