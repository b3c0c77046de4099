// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/adapter_ports.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "cli/interface/exit_code.hpp"
#include "diag/topology/text_parts.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag {
namespace {

using topology::MachineView;
using topology::PciTree;

constexpr std::size_t most_ports = 16;

/// "400 Gb/sec (4X NDR)"
topology::Fact<double> read_rate(const MachineView& view, const std::string& path) {
  const auto line = view.line(path);
  if (!line.is_found()) return topology::pass<double>(line);
  const double rate = std::strtod(line.value.c_str(), nullptr);
  if (rate > 0 && rate < 1e6 && line.value.find(" Gb/sec") != std::string::npos) return topology::found(rate);
  return {topology::Outcome::malformed, 0, path + ": '" + line.value + "' is not a rate"};
}

AdapterPorts read_one(const MachineView& view, const std::string& name) {
  AdapterPorts adapter;
  adapter.name = name;
  const std::string directory = "/sys/class/infiniband/" + name;
  const auto numbers = view.names(directory + "/ports");
  if (!numbers.is_found()) adapter.unread = numbers.reason;
  for (const std::string& number : numbers.value) {
    if (adapter.ports.size() == most_ports) break;
    const std::string port = directory + "/ports/" + number;
    adapter.ports.push_back(
        {number, view.line(port + "/state"), read_rate(view, port + "/rate"), view.line(port + "/link_layer")});
  }
  return adapter;
}

void judge(AdapterPorts& adapter, double best) {
  std::string unread = adapter.unread;
  bool is_active = false;
  for (const AdapterPort& port : adapter.ports) {
    if (!port.state.is_found()) unread = port.state.reason;
    if (!port.is_active()) continue;
    is_active = true;
    if (!port.rate_gbit_per_s.is_found()) {
      unread = port.rate_gbit_per_s.reason;
    } else if (port.rate_gbit_per_s.value * 2 >= best) {
      adapter.usable = Usable::yes;
      return;
    }
  }
  adapter.usable = unread.empty() ? Usable::no : Usable::unknown;
  adapter.why = !unread.empty() ? unread
                : is_active     ? cli::format("%.0f Gb/s is less than half of the best %.0f", adapter.best_rate(), best)
                                : "no port is active";
}

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

double AdapterPorts::best_rate() const {
  double best = 0;
  for (const AdapterPort& port : ports) {
    if (port.is_active()) best = std::max(best, port.rate_gbit_per_s.value);
  }
  return best;
}

std::vector<AdapterPorts> read_adapter_ports(const MachineView& view,
                                             const std::vector<topology::TreeDevice>& adapters) {
  std::vector<AdapterPorts> all;
  double best = 0;
  for (const topology::TreeDevice& adapter : adapters) {
    all.push_back(read_one(view, adapter.name));
    best = std::max(best, all.back().best_rate());
  }
  for (AdapterPorts& adapter : all) judge(adapter, best);
  return all;
}

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
  std::vector<AdapterUse> uses;
  for (const AdapterPorts& ports : read_adapter_ports(view, tree.adapters)) uses.push_back(from_ports(ports));
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

topology::Fact<std::vector<Gid>> read_gids(const MachineView& view, const std::string& port_directory) {
  constexpr std::size_t most_digits = 4;
  const auto names = view.names(port_directory + "/gids");
  topology::Fact<std::vector<Gid>> gids{names.outcome, {}, names.reason};
  if (!names.is_found()) return gids;
  bool has_read = false;
  for (const std::string& name : names.value) {
    if (name.size() > most_digits || name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto text = view.line(port_directory + "/gids/" + name);
    if (!text.is_found()) {
      gids.reason = text.reason;
      continue;
    }
    has_read = true;
    if (text.value.find_first_not_of("0:") == std::string::npos) continue;
    const auto type = view.line(port_directory + "/gid_attrs/types/" + name);
    const auto interface = view.line(port_directory + "/gid_attrs/ndevs/" + name);
    gids.value.push_back({static_cast<unsigned>(std::stoul(name)), text.value, type.is_found() ? type.value : "",
                          interface.is_found() ? interface.value : ""});
  }
  if (!has_read && !gids.reason.empty()) gids.outcome = topology::Outcome::unreadable;
  std::ranges::sort(gids.value, [](const Gid& a, const Gid& b) { return a.index < b.index; });
  return gids;
}

}  // namespace gdrkit::diag
