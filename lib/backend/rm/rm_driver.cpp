// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_driver.hpp"

#include <unistd.h>

#include <new>
#include <utility>

namespace gdrkit::backend::rm {

base::Result<RmDevice*> RmDriver::device(const char* pci, const driver::CudaUuid& uuid) {
  const std::lock_guard lock(mutex_);
  if (const auto known = devices_.find(pci); known != devices_.end()) return known->second.get();
  auto opened = RmDevice::open(*client_, kept_, system_, pci, uuid);
  if (!opened) return base::pass(opened);
  return devices_.emplace(pci, std::move(*opened)).first->second.get();
}

void RmDriver::abandon_after_fork() noexcept {
  kept_.abandon_after_fork();
  for (auto& [pci, device] : devices_) device->abandon_after_fork();
  client_->abandon_after_fork();
}

base::Result<std::shared_ptr<RmDriver>> KeptDriver::get(driver::System& system, const base::Settings& settings) {
  const std::lock_guard lock(mutex_);
  const pid_t pid = ::getpid();
  if (owner_ != pid) {
    if (driver_ != nullptr) driver_->abandon_after_fork();
    new (&driver_) std::shared_ptr<RmDriver>;  // not destroyed: a fork may have interrupted a thread that changed it
  }
  if (driver_ != nullptr && (settings.allow_unreviewed_driver || !is_unreviewed_allowed_)) return driver_;
  auto opened = open_driver(system, settings);
  if (!opened) return opened;
  driver_ = *opened;
  owner_ = pid;
  is_unreviewed_allowed_ = settings.allow_unreviewed_driver;
  return opened;
}

void KeptDriver::abandon_after_fork() noexcept {
  new (&mutex_) std::mutex;
  if (driver_ != nullptr) driver_->abandon_after_fork();
  owner_ = 0;
}

}  // namespace gdrkit::backend::rm
