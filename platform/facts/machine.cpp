// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/machine.hpp"

#include <sys/utsname.h>

#include <fstream>

#include "base/cpu_set.hpp"

namespace gdrkit::platform {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(':');
    if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  return "unknown";
}

int cpu_count() {
  base::CpuSet cpus;
  return cpus.read() == 0 ? cpus.count() : 0;
}

}  // namespace

Machine describe_machine(const Device* device) {
  Machine machine;
  machine.cpu_model = cpu_model();
  machine.cpu_count = cpu_count();
  utsname system{};
  if (::uname(&system) == 0) machine.os_release = system.release;
  if (device != nullptr) {
    machine.gpu_name = device->identity().name;
    machine.gpu_pci_address = device->identity().pci_bus_id;
    machine.driver_version = device->identity().driver_version;
  }
  return machine;
}

}  // namespace gdrkit::platform
