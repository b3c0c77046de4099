// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DeviceScope: makes a device current on this thread. The destructor restores the previous context.
#pragma once

#include "platform/device/device.hpp"

namespace gdrkit::platform {

class DeviceScope {
 public:
  explicit DeviceScope(Device& device) noexcept : device_(device), before_(device.enter()) {}
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() {
    if (before_) device_.leave(*before_);
  }

  /// Fails with the reason if the device could not be made current.
  [[nodiscard]] base::Status status() const noexcept {
    if (before_) return {};
    return base::pass(before_);
  }

 private:
  Device& device_;
  const base::Result<std::uint64_t> before_;
};

}  // namespace gdrkit::platform
