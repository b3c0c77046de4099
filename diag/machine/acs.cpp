// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/acs.hpp"

#include <algorithm>

#include "diag/machine/pci_config.hpp"

namespace gdrkit::diag {

Fact<Acs> read_acs(const MachineView& view, const std::string& port) {
  const PciConfig config(view, "/sys/bus/pci/devices/" + port);
  const auto at = config.extended_capability(acs_capability);
  if (!at.is_found()) return pass<Acs>(at);
  const auto both = config.value(at.value + 4, 4);
  return {both.outcome, {both.value & 0x7f, both.value >> 16}, both.reason};
}

std::set<std::string> ports_between(const PciDevice& a, const PciDevice& b) {
  const auto [left, right] = std::mismatch(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  std::set<std::string> ports;
  if (left == a.bridges.begin()) return ports;
  ports.insert(left, a.bridges.end());
  ports.insert(right, b.bridges.end());
  return ports;
}

}  // namespace gdrkit::diag
