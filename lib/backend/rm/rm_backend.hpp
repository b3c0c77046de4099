// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The rm backend: maps device memory with the stock NVIDIA driver, without an additional kernel module.
#pragma once

#include <functional>
#include <memory>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "driver/cuda.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::rm {

class KeptDriver;

/// Opens the backend on the given interfaces, which must outlive it. Loads CUDA only after the driver was found usable:
/// without a driver, this error is more helpful than that of a missing libcuda. The text of an error names the reason.
/// `kept`: the driver that contexts share; nullptr: the backend opens and closes its own.
using LoadCuda = std::function<base::Result<const driver::CudaCalls*>()>;
base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, const LoadCuda& load_cuda,
                                                  const base::Settings& settings, KeptDriver* kept = nullptr) noexcept;
/// The same with loaded functions.
inline base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, const driver::CudaCalls& cuda,
                                                         const base::Settings& settings,
                                                         KeptDriver* kept = nullptr) noexcept {
  return open_rm_on(
      system, [&cuda] { return base::Result<const driver::CudaCalls*>(&cuda); }, settings, kept);
}

}  // namespace gdrkit::backend::rm
