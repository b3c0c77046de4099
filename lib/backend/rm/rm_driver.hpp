// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmDriver: our client of the driver with its GPUs, and KeptDriver, which later contexts of the process reuse.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backend/calibration.hpp"
#include "backend/rm/driver_layout.hpp"
#include "backend/rm/kept_mappings.hpp"
#include "backend/rm/proved_locations.hpp"
#include "backend/rm/rm_client.hpp"
#include "backend/rm/rm_device.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "driver/cuda.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::rm {

/// Thread safe. The destructor frees all RM objects in one call, which is cheaper than one for each, before it closes
/// the files.
class RmDriver {
 public:
  RmDriver(driver::System& system, DriverLayout layout, std::unique_ptr<RmClient> client) noexcept
      : system_(system), layout_(layout), client_(std::move(client)), kept_(system, *client_) {}
  ~RmDriver() { client_->free_all(); }
  RmDriver(const RmDriver&) = delete;
  RmDriver& operator=(const RmDriver&) = delete;

  [[nodiscard]] const DriverLayout& layout() const noexcept { return layout_; }
  /// Opens the GPU at `pci` (CUDA's format) at the first call. May throw std::bad_alloc.
  base::Result<RmDevice*> device(const char* pci, const driver::CudaUuid& uuid);
  void abandon_after_fork() noexcept;
  /// What earlier mappings of this client proved.
  [[nodiscard]] Calibrations& calibrations() noexcept { return calibrations_; }
  [[nodiscard]] ProvedLocations& proved_locations() noexcept { return proved_locations_; }
  [[nodiscard]] KeptMappings& kept() noexcept { return kept_; }

 private:
  driver::System& system_;
  DriverLayout layout_;
  Calibrations calibrations_;
  ProvedLocations proved_locations_;
  std::unique_ptr<RmClient> client_;                          // must outlive the devices
  KeptMappings kept_;                                         // must outlive the devices
  std::mutex mutex_;                                          // guards devices_
  std::map<std::string, std::unique_ptr<RmDevice>> devices_;  // by PCI address
};

/// Thread safe. The RmDriver that all contexts of the process share. It stays open when the last context closes,
/// because the device object and its release cost about 1 ms (docs/design/0029).
class KeptDriver {
 public:
  /// Returns the driver. Opens it at the first call, after an error, in a forked child, and if an earlier context
  /// allowed an unreviewed driver but `settings` does not. May throw std::bad_alloc.
  base::Result<std::shared_ptr<RmDriver>> get(driver::System& system, const base::Settings& settings);
  /// In a forked child: closes the inherited files. The driver still belongs to the parent.
  void abandon_after_fork() noexcept;

 private:
  std::mutex mutex_;                    // guards the rest
  std::shared_ptr<RmDriver> driver_;    // empty before the first success
  pid_t owner_ = 0;                     // the process that opened it: a child may exist without fork handlers
  bool is_unreviewed_allowed_ = false;  // the setting with which it was opened
};

/// Opens the driver. Fails if the driver is not loaded, its version is not supported, the control node is unusable, or
/// no GPU has a usable node. Does not open the node of a GPU, so an idle GPU is not woken.
[[nodiscard]] base::Result<std::shared_ptr<RmDriver>> open_driver(driver::System& system,
                                                                  const base::Settings& settings) noexcept;

}  // namespace gdrkit::backend::rm
