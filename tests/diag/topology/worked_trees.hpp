// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Worked trees: machines whose distances were derived by hand from the rules of each library.
#pragma once

#include <memory>
#include <string>

#include "diag/topology/path_class.hpp"
#include "written_machine.hpp"

namespace gdrkit::diag::topology {

using MachinePointer = std::unique_ptr<WrittenMachine>;

/// T1: two sockets with a switch each.
inline MachinePointer two_sockets() {
  auto machine = std::make_unique<WrittenMachine>();
  machine->gpu("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0", 0);
  machine->adapter("n0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0", 0);
  machine->gpu("pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:00.0/0000:83:00.0", 1);
  machine->adapter("n1", "pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:01.0/0000:84:00.0", 1);
  return machine;
}

/// T2: switches below a switch. `bridge_facts` and those of the upper switch determine whether it is a Broadcom one.
inline MachinePointer cascade(const WrittenMachine::Files& lower = {}, const WrittenMachine::Files& upper = {}) {
  auto machine = std::make_unique<WrittenMachine>();
  if (!lower.empty()) machine->bridge_facts = lower;
  const std::string top = "pci0000:00/0000:00:01.0/0000:01:00.0";
  machine->gpu(top + "/0000:02:00.0/0000:03:00.0/0000:04:00.0/0000:05:00.0", 0);
  machine->gpu(top + "/0000:02:01.0/0000:06:00.0/0000:07:00.0/0000:08:00.0", 0);
  machine->adapter("n0", top + "/0000:02:02.0/0000:09:00.0", 0);
  machine->adapter("n1", top + "/0000:02:00.0/0000:03:00.0/0000:04:01.0/0000:0a:00.0", 0);
  for (const auto& [file, text] : upper) machine->put("/sys/devices/" + top + "/" + file, text + "\n");
  return machine;
}

/// T3: a workstation with a root port for each device.
inline MachinePointer workstation() {
  auto machine = std::make_unique<WrittenMachine>();
  machine->gpu("pci0000:00/0000:00:01.0/0000:01:00.0", 0);
  machine->gpu("pci0000:00/0000:00:03.1/0000:02:00.0", 0);
  machine->adapter("n0", "pci0000:00/0000:00:03.2/0000:03:00.0", 0);
  return machine;
}

/// T4: host bridges that share a NUMA node, and one that does not.
inline MachinePointer host_bridges() {
  auto machine = std::make_unique<WrittenMachine>();
  machine->gpu("pci0000:00/0000:00:01.1/0000:01:00.0", 0);
  machine->adapter("n0", "pci0000:40/0000:40:01.1/0000:41:00.0", 0);
  machine->adapter("n1", "pci0000:80/0000:80:01.1/0000:81:00.0", 1);
  return machine;
}

/// T5: a guest without bridges.
inline MachinePointer flat_guest() {
  auto machine = std::make_unique<WrittenMachine>();
  machine->gpu("pci0000:00/0000:00:05.0", -1);
  machine->gpu("pci0000:00/0000:00:06.0", -1);
  machine->adapter("n0", "pci0000:00/0000:00:07.0", -1);
  return machine;
}

/// T6: a GPU on the CPU's own link, an adapter with a virtual function, another adapter.
inline MachinePointer grace() {
  auto machine = std::make_unique<WrittenMachine>();
  machine->gpu("pci0009:00/0009:00:00.0/0009:01:00.0", 0);
  machine->adapter("n0", "pci0000:00/0000:00:00.0/0000:01:00.0", 0);
  machine->adapter("n0v", "pci0000:00/0000:00:00.0/0000:01:00.2", 0);
  machine->adapter("n1", "pci0002:00/0002:00:00.0/0002:01:00.0", 0);
  return machine;
}
inline NvLinks grace_links() {
  NvLinks links;
  links.is_known = true;
  links.gpus[platform::PciAddress{9, 1, 0, 0}].c2c_count = 10;
  return links;
}

/// T7: an adapter with its own switch, near a GPU.
inline MachinePointer inner_switch() {
  auto machine = std::make_unique<WrittenMachine>();
  const std::string top = "pci0000:00/0000:00:01.0/0000:01:00.0";
  machine->gpu(top + "/0000:02:00.0/0000:03:00.0", 0);
  machine->adapter("n0", top + "/0000:02:01.0/0000:04:00.0/0000:05:00.0/0000:06:00.0", 0);
  return machine;
}

}  // namespace gdrkit::diag::topology
