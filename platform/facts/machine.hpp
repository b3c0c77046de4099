// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Machine: what a reader of a result must know of the machine, and nothing that identifies its owner.
#pragma once

#include <string>

#include "platform/device/device.hpp"

namespace gdrkit::platform {

/// No host name, serial number, UUID or user name: results are published.
struct Machine {
  std::string cpu_model;
  int cpu_count = 0;       ///< that this process may run on
  std::string os_release;  ///< of the running operating system, as uname says
  std::string gpu_name;    ///< of the chosen device; the emulated one says that it is
  std::string gpu_pci_address;
  std::string driver_version;  ///< "CUDA 13.0, NVIDIA driver 580.159.04"
};

/// `device` may be nullptr: the GPU's fields stay "".
[[nodiscard]] Machine describe_machine(const Device* device);

}  // namespace gdrkit::platform
