// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The gdrdrv backend: maps device memory through the gdrdrv kernel module, gdrkit's or GDRCopy's.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::gdrdrv {

/// Opens the backend on the given interfaces, which must outlive it. Without `cuda`, or if CUDA is not initialized in
/// this process, only the module checks addresses. It has pages, but not the exact ends of allocations. The text of an
/// error names the reason.
base::Result<std::unique_ptr<Backend>> open_gdrdrv_on(driver::System& system, const driver::CudaCalls* cuda) noexcept;

}  // namespace gdrkit::backend::gdrdrv
