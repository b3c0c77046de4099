// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DmabufBackend: device memory that CUDA exports as dma-bufs, by drivers that let a CPU map them.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/calibration.hpp"
#include "driver/cuda.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::dmabuf {

class DmabufBackend final : public Backend {
 public:
  DmabufBackend(driver::System& system, const driver::CudaCalls& cuda) noexcept;

  [[nodiscard]] const Traits& traits() const noexcept override { return traits_; }
  base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept override;
  base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override;
  void abandon_after_fork() noexcept override {}

  [[nodiscard]] driver::System& system() noexcept { return system_; }
  [[nodiscard]] const driver::CudaCalls& cuda() noexcept { return cuda_; }
  [[nodiscard]] Calibrations& calibrations() noexcept { return calibrations_; }
  /// Maps a dma-buf of scratch memory, if the process has an active primary context. Where it has none, or CUDA no
  /// scratch memory, the backend counts as untried.
  base::Status try_scratch() noexcept;

 private:
  driver::System& system_;
  const driver::CudaCalls& cuda_;
  Traits traits_;
  Calibrations calibrations_;
};

/// Opens the backend on the given seams; both outlive it. Where the process has an active primary context, the way is
/// tried on scratch memory, and the error's text names the failed step. Elsewhere it cannot be tried: then it opens if
/// it is named, or if CUDA's version is one that works, as Traits::is_untried.
base::Result<std::unique_ptr<Backend>> open_dmabuf_on(driver::System& system, const driver::CudaCalls& cuda,
                                                      const base::Settings& settings) noexcept;

}  // namespace gdrkit::backend::dmabuf
