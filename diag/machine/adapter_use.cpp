// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/adapter_use.hpp"

#include <algorithm>
#include <sstream>

#include "diag/machine/adapter_ports.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag {
namespace {

using topology::MachineView;
using topology::PciTree;

AdapterUse from_ports(const AdapterPorts& ports) {
  AdapterUse use;
  use.name = ports.name;
  for (const AdapterPort& port : ports.ports) {
    if (!port.is_active() || (use.is_active && port.rate_gbit_per_s.value <= use.rate_gb_per_s)) continue;
    use.is_active = true;
    use.port = port.number;
    use.rate_gb_per_s = port.rate_gbit_per_s.value;
    use.is_ethernet = port.link_layer.value == "Ethernet";
  }
  use.is_unread = ports.usable == Usable::unknown;
  use.why_not = ports.usable == Usable::yes ? "" : ports.why;
  return use;
}

}  // namespace

std::string default_route(const MachineView& view) {
  for (const std::string& line : topology::split(view.text("/proc/net/route").value, '\n')) {
    std::istringstream words(line);
    std::string device;
    std::string destination;
    if (words >> device >> destination && destination == "00000000") return device;
  }
  return {};
}

std::vector<AdapterUse> judge_adapters(const MachineView& view, const PciTree& tree) {
  std::vector<std::string> names;
  for (const topology::TreeDevice& adapter : tree.adapters) names.push_back(adapter.name);
  std::vector<AdapterUse> uses;
  for (const AdapterPorts& ports : read_adapter_ports(view, names)) uses.push_back(from_ports(ports));
  const std::string route = default_route(view);
  const auto active = std::ranges::count_if(uses, [](const AdapterUse& use) { return use.is_active; });
  for (AdapterUse& use : uses) {
    if (!use.is_active) continue;
    for (const std::string& net : view.names("/sys/class/infiniband/" + use.name + "/device/net").value) {
      // If only one adapter is active, all traffic uses it.
      if (net == route && active > 1) use.why_not = "the default route uses it (" + net + ")";
      if (view.presence("/sys/class/net/" + net + "/master") == topology::Outcome::found) {
        use.why_not = "its network device " + net + " belongs to a bond";
      }
    }
    use.is_usable = use.why_not.empty();
  }
  return uses;
}

std::vector<std::size_t> visible_gpus(const MachineView& view, const PciTree& tree) {
  std::vector<std::size_t> all;
  std::vector<std::size_t> listed;
  const auto names = view.names("/proc/driver/nvidia/gpus");
  for (std::size_t index = 0; index < tree.gpus.size(); ++index) {
    all.push_back(index);
    const auto same = [&](const std::string& name) {
      return platform::parse_pci_address(name) == tree.gpus[index].function.address;
    };
    if (std::ranges::any_of(names.value, same)) listed.push_back(index);
  }
  return listed.empty() ? all : listed;
}

}  // namespace gdrkit::diag
