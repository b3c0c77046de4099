// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmBackend: device memory through the stock NVIDIA driver, without a kernel module of our own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backend/backend.hpp"
#include "backend/calibration.hpp"
#include "backend/rm/driver_layout.hpp"
#include "backend/rm/rm_client.hpp"
#include "backend/rm/rm_device.hpp"
#include "driver/cuda.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::rm {

class RmBackend final : public Backend {
 public:
  RmBackend(driver::System& system, const driver::CudaCalls& cuda, base::Settings settings, DriverLayout layout,
            std::unique_ptr<RmClient> client) noexcept
      : system_(system), cuda_(cuda), settings_(std::move(settings)), layout_(layout), client_(std::move(client)) {}

  [[nodiscard]] const Traits& traits() const noexcept override;
  base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept override;
  base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override;
  void abandon_after_fork() noexcept override;

  [[nodiscard]] driver::System& system() noexcept { return system_; }
  [[nodiscard]] const driver::CudaCalls& cuda() noexcept { return cuda_; }
  [[nodiscard]] const base::Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] const DriverLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] Calibrations& calibrations() noexcept { return calibrations_; }

 private:
  base::Result<RmDevice*> device_of(int cuda_ordinal);  ///< may throw std::bad_alloc

  driver::System& system_;
  const driver::CudaCalls& cuda_;
  base::Settings settings_;
  DriverLayout layout_;
  std::unique_ptr<RmClient> client_;                          // outlives the devices
  std::mutex mutex_;                                          // guards devices_
  std::map<std::string, std::unique_ptr<RmDevice>> devices_;  // by PCI address
  Calibrations calibrations_;
};

/// Opens the backend on the given seams; both outlive it. The error's text gives the reason why it cannot run.
base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, const driver::CudaCalls& cuda,
                                                  const base::Settings& settings) noexcept;
/// The same, where CUDA is loaded only once the driver is found usable: where there is no driver, its reason says more
/// than a missing libcuda.
using LoadCuda = base::Result<const driver::CudaCalls*> (*)() noexcept;
base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, LoadCuda load_cuda,
                                                  const base::Settings& settings) noexcept;

}  // namespace gdrkit::backend::rm
