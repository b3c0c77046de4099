// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Makes sure that a fresh mapping shows the memory that was pinned, without writing to it.
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
  std::span<const std::uint64_t> pieces;  ///< device addresses at which memory objects begin: range.page_address first
  const std::uint8_t* address;            ///< CPU address of range.page_address
  std::size_t size_bytes;
  const char* device;           ///< PCI address
  bool may_have_holes = false;  ///< the driver may have mapped a part only: nothing is loaded from untested pages
};

/// Compares every piece with CUDA's view; where the content proves nothing, uses calibration. Memory that its owner
/// freed since it was pinned is not read by CUDA. EIO: the mapping shows something else; ENODEV: the GPU is lost.
[[nodiscard]] base::Result<Verification> check_mapping(const driver::CudaCalls& cuda, const FreshMapping& mapping,
                                                       Calibrations& calibrations, ScratchMap& scratch) noexcept;

}  // namespace gdrkit::backend
