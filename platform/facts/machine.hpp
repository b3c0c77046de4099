// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Machine: the machine's properties that readers of a result need, without anything that identifies its owner.
#pragma once

#include <string>

#include "platform/device/device.hpp"

namespace gdrkit::platform {

/// No host name, serial number, UUID or user name: results are published.
struct Machine {
  std::string cpu_model;
  int cpu_count = 0;       ///< that this process may run on
  std::string os_release;  ///< of the running operating system, from uname
  std::string gpu_name;    ///< of the chosen device; for the emulated one it contains "emulated"
  std::string gpu_pci_address;
  std::string driver_version;  ///< "CUDA 13.0, NVIDIA driver 580.159.04"
};

/// `device` may be nullptr: then the GPU's fields are "".
[[nodiscard]] Machine describe_machine(const Device* device);

}  // namespace gdrkit::platform
