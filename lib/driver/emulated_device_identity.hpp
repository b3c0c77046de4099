// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The identity of the emulated device: the same for the backend and for the application.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace gdrkit::driver {

inline constexpr const char* emulated_device_name = "gdrkit emulated device (no GPU)";
/// No machine numbers a device so: domain, bus and device are the largest there can be. This is device 0; the others
/// count down from it.
inline constexpr const char* emulated_pci_bus_id = "ffff:ff:1f.0";
inline constexpr int most_emulated_devices = 16;

/// The number of devices that GDRKIT_EMULATED_DEVICES selects: 1 when it is empty, EINVAL unless it is a number from 1
/// to most_emulated_devices.
[[nodiscard]] base::Result<int> emulated_device_count(std::string_view setting) noexcept;

}  // namespace gdrkit::driver
