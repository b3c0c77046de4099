// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The identity of the emulated devices, as the backend and the application see it.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace gdrkit::driver {

inline constexpr const char* emulated_device_name = "gdrkit emulated device (no GPU)";
/// The address of emulated device 0; further devices count down from it. Domain, bus and device have their largest
/// values, which no real device uses.
inline constexpr const char* emulated_pci_bus_id = "ffff:ff:1f.0";
inline constexpr int most_emulated_devices = 16;

/// Parses GDRKIT_EMULATED_DEVICES. Returns 1 if it is empty. EINVAL: not a number from 1 to most_emulated_devices.
[[nodiscard]] base::Result<int> emulated_device_count(std::string_view setting) noexcept;

}  // namespace gdrkit::driver
