// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Verifies that a new mapping refers to the pinned memory, without writing to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/backend.hpp"
#include "backend/calibration.hpp"
#include "backend/pointer_check.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend {

struct FreshMapping {
  const DeviceRange& range;
  std::span<const std::uint64_t> pieces;  ///< device addresses at which memory objects start, range.page_address first
  const std::uint8_t* address;            ///< CPU address of range.page_address
  std::size_t size_bytes;
  const char* device;  ///< PCI address
  /// An earlier comparison proved that this allocation consists of the same objects at the same offsets.
  bool is_proved = false;
  bool may_have_holes = false;  ///< the driver may have mapped only a part: pages are tested before they are read
};

/// Compares every piece with CUDA's view, unless it is proved and its owner has not freed it. If the content is
/// trivial, uses calibration. CUDA does not read memory that its owner freed since it was pinned. EIO: the mapping
/// refers to other memory. ENODEV: the GPU is lost.
[[nodiscard]] base::Result<Verification> check_mapping(const driver::CudaCalls& cuda, const FreshMapping& mapping,
                                                       Calibrations& calibrations, ScratchMap& scratch) noexcept;

}  // namespace gdrkit::backend
