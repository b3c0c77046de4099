// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GdrdrvBackend: device memory through the gdrdrv kernel module, ours or GDRCopy's.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/gdrdrv/module_file.hpp"
#include "driver/cuda.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::gdrdrv {

class GdrdrvBackend final : public Backend {
 public:
  GdrdrvBackend(std::unique_ptr<ModuleFile> file, const driver::CudaCalls* cuda) noexcept;

  [[nodiscard]] const Traits& traits() const noexcept override { return traits_; }
  base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept override;
  base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override;
  void abandon_after_fork() noexcept override { file_->abandon_after_fork(); }

 private:
  std::unique_ptr<ModuleFile> file_;
  const driver::CudaCalls* cuda_;
  Traits traits_;
};

/// Opens the backend on the given seams, which outlive it. Without `cuda`, or where CUDA is not initialised in this
/// process, only the module checks addresses: it checks pages, not the exact ends of allocations. The
/// error's text gives the reason why it cannot run.
base::Result<std::unique_ptr<Backend>> open_gdrdrv_on(driver::System& system, const driver::CudaCalls* cuda) noexcept;

}  // namespace gdrkit::backend::gdrdrv
