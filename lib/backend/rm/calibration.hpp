// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Proves the way to device memory on scratch memory, for ranges whose own content is too plain to prove anything.
#pragma once

#include <cstdint>

#include "backend/rm/rm_device.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "shim/cuda.hpp"

namespace gdrkit::backend::rm {

enum class Calibration : std::uint8_t {
  impossible = 0,  ///< could not be tried to its end
  proved = 1,
  contradicted = 2,  ///< the mapping of scratch memory did not show that memory
};

/// Allocates a scratch block of stream-ordered memory in the current context, maps it as user memory would be, and
/// sends a pattern each way: written by CUDA and read through the mapping, then written through the mapping and read by
/// CUDA. Nothing waits for the device's other work. The caller holds a CudaScope; where its context belongs to another
/// device than `cuda_ordinal`, the scratch block would too, and nothing can be tried.
Calibration calibrate(shim::Cuda& cuda, shim::System& system, RmDevice& device, int cuda_ordinal,
                      const base::Settings& settings, bool reports_caching_type, std::uint32_t fb_info_bytes) noexcept;

}  // namespace gdrkit::backend::rm
