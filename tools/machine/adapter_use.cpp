// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "tools/machine/adapter_use.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace gdrkit::tools {
namespace {

using topology::MachineView;
using topology::PciTree;

/// The device of the first default route of IPv4; "" when there is none.
std::string default_route(const MachineView& view) {
  std::istringstream lines(view.text("/proc/net/route").value);
  std::string line;
  std::getline(lines, line);  // names of the columns
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string device;
    std::string destination;
    if (words >> device >> destination && destination == "00000000") return device;
  }
  return {};
}

void take_ports(const MachineView& view, const std::string& folder, AdapterUse* use) {
  const auto ports = view.names(folder + "/ports");
  if (!ports.is_found()) use->is_unread = true, use->why_not = ports.reason;
  for (const std::string& port : ports.value) {
    const std::string path = folder + "/ports/" + port;
    const auto state = view.line(path + "/state");
    if (!state.is_found()) use->is_unread = true, use->why_not = state.reason;
    if (state.value.rfind("4:", 0) != 0) continue;
    const double rate = std::strtod(view.line(path + "/rate").value.c_str(), nullptr);
    if (use->is_active && rate <= use->rate_gb_per_s) continue;
    use->is_active = true;
    use->port = port;
    use->rate_gb_per_s = rate;
    use->is_ethernet = view.line(path + "/link_layer").value == "Ethernet";
  }
  if (!use->is_active && use->why_not.empty()) use->why_not = "no port is active";
}

}  // namespace

std::vector<AdapterUse> judge_adapters(const MachineView& view, const PciTree& tree) {
  std::vector<AdapterUse> uses;
  double best = 0;
  for (const topology::TreeDevice& adapter : tree.adapters) {
    AdapterUse use;
    use.name = adapter.name;
    take_ports(view, "/sys/class/infiniband/" + adapter.name, &use);
    best = std::max(best, use.rate_gb_per_s);
    uses.push_back(std::move(use));
  }
  const std::string route = default_route(view);
  const auto active = std::count_if(uses.begin(), uses.end(), [](const AdapterUse& use) { return use.is_active; });
  for (AdapterUse& use : uses) {
    if (!use.is_active) continue;
    use.is_unread = false;
    use.why_not.clear();
    for (const std::string& net : view.names("/sys/class/infiniband/" + use.name + "/device/net").value) {
      // With one adapter alone everything goes over it.
      if (net == route && active > 1) use.why_not = "the machine's default route goes over it (" + net + ")";
      if (view.presence("/sys/class/net/" + net + "/master") == topology::Outcome::found) {
        use.why_not = "its network device " + net + " belongs to a bond";
      }
    }
    if (use.rate_gb_per_s * 2 < best) use.why_not = "it has less than half the speed of the fastest";
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
      return topology::parse_pci_address(name) == tree.gpus[index].function.address;
    };
    if (std::any_of(names.value.begin(), names.value.end(), same)) listed.push_back(index);
  }
  return listed.empty() ? all : listed;
}

}  // namespace gdrkit::tools
