// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmBackend: maps device memory with the stock NVIDIA driver, without an additional kernel module.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backend/backend.hpp"
#include "backend/calibration.hpp"
#include "backend/rm/driver_layout.hpp"
#include "backend/rm/proved_locations.hpp"
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
  [[nodiscard]] ProvedLocations& proved_locations() noexcept { return proved_locations_; }

 private:
  base::Result<RmDevice*> device_of(int cuda_ordinal);  ///< may throw std::bad_alloc

  driver::System& system_;
  const driver::CudaCalls& cuda_;
  base::Settings settings_;
  DriverLayout layout_;
  std::unique_ptr<RmClient> client_;                          // must outlive the devices
  std::mutex mutex_;                                          // guards devices_
  std::map<std::string, std::unique_ptr<RmDevice>> devices_;  // by PCI address
  Calibrations calibrations_;
  ProvedLocations proved_locations_;
};

/// Opens the backend on the given interfaces, which must outlive it. The text of an error names the reason.
base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, const driver::CudaCalls& cuda,
                                                  const base::Settings& settings) noexcept;
/// The same, but loads CUDA only after the driver was found usable. Without a driver, this error is more helpful than
/// that of a missing libcuda.
using LoadCuda = base::Result<const driver::CudaCalls*> (*)() noexcept;
base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, LoadCuda load_cuda,
                                                  const base::Settings& settings) noexcept;

}  // namespace gdrkit::backend::rm
