// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Machine: the facts about the machine that results need. It contains nothing that identifies the owner.
#pragma once

#include <string>

#include "platform/device/device.hpp"

namespace gdrkit::platform {

/// Contains no host name, serial number, UUID or user name, because results are published.
struct Machine {
  std::string cpu_model;
  int cpu_count = 0;       ///< CPUs that this process may use
  std::string os_release;  ///< release of the operating system, from uname
  std::string gpu_name;    ///< of the selected device; contains "emulated" for the emulated device
  std::string gpu_pci_address;
  std::string driver_version;  ///< "CUDA 13.0, NVIDIA driver 580.159.04"
};

/// `device` may be nullptr; the GPU fields are then empty.
[[nodiscard]] Machine describe_machine(const Device* device);

}  // namespace gdrkit::platform
